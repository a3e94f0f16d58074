//! The answer of a call.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The answer of a call, a success or a failure.
#[pyclass(frozen, module = "ripkit")]
pub(crate) struct Answer {
    answer: ripkit_bindings::Answer,
    /// Decoded when it is first asked for.
    data: PyOnceLock<Py<PyAny>>,
}

/// An image of an answer.
#[pyclass(frozen, module = "ripkit")]
pub(crate) struct Image(ripkit_bindings::Image);

#[pymethods]
impl Image {
    /// Its bytes.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("binascii")?.call_method1("a2b_base64", (&self.0.data,))
    }

    /// Its bytes in base64, as providers take them.
    #[getter]
    fn base64(&self) -> &str {
        &self.0.data
    }

    /// Its type, such as `image/png`.
    #[getter]
    fn mime_type(&self) -> &str {
        &self.0.mime_type
    }
}

impl From<ripkit_bindings::Answer> for Answer {
    fn from(answer: ripkit_bindings::Answer) -> Answer {
        Answer { answer, data: PyOnceLock::new() }
    }
}

#[pymethods]
impl Answer {
    /// The text for a model.
    #[getter]
    fn text(&self) -> &str {
        self.answer.text()
    }

    /// The data for a program, decoded from JSON: that of the tool, or `code`, `message`, `path` and
    /// `hint` of the error.
    #[getter]
    fn data(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let decoded = self.data.get_or_try_init(py, || {
            let json = self.answer.structured();
            PyResult::Ok(py.import("json")?.call_method1("loads", (json,))?.unbind())
        });
        Ok(decoded?.clone_ref(py))
    }

    /// Whether the call failed.
    #[getter]
    fn is_error(&self) -> bool {
        self.answer.is_error()
    }

    /// The stable code of the failure, such as `FILE_NOT_FOUND`, or None.
    #[getter]
    fn code(&self) -> Option<&'static str> {
        self.answer.code()
    }

    /// Notes on repaired arguments and unexpected findings, which the text has too.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.answer.notes().to_vec()
    }

    /// The images.
    #[getter]
    fn images(&self) -> Vec<Image> {
        self.answer.images().into_iter().map(Image).collect()
    }

    /// All of it as one JSON object.
    fn to_json(&self) -> String {
        self.answer.to_json()
    }

    /// Returns the answer, or raises its failure as `ripkit.Error`.
    fn check(slf: Bound<'_, Answer>) -> PyResult<Bound<'_, Answer>> {
        let Some(code) = slf.get().answer.code() else { return Ok(slf) };
        // That of the text, which names tools and arguments as they are offered.
        let message: String =
            slf.get().data(slf.py())?.bind(slf.py()).get_item("message")?.extract()?;
        Err(crate::error::raised(slf.py(), code, &message))
    }

    fn __str__(&self) -> &str {
        self.answer.text()
    }

    fn __repr__(&self) -> String {
        let code = self.answer.code().map(|code| format!(" {code}")).unwrap_or_default();
        format!("<ripkit.Answer{code} {:?}>", self.answer.text())
    }
}
