//! The frame of a picture.

/// Text as the content of an element.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A picture of this size, with its title and description for those who do not see it.
pub(crate) struct Picture<'a> {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    /// CSS rules; the background has the class `ground`.
    pub(crate) style: &'a str,
}

impl Picture<'_> {
    /// The picture with its elements, one a line.
    pub(crate) fn with(&self, elements: &[String]) -> String {
        let Picture { width, height, title, description, style } = self;
        let (title, description) = (escaped(title), escaped(description));
        let elements = elements.join("\n");
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title description\">\n\
             <title id=\"title\">{title}</title>\n\
             <desc id=\"description\">{description}</desc>\n\
             <style>\n{style}</style>\n\
             <rect class=\"ground\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>\n\
             {elements}\n\
             </svg>\n"
        )
    }
}
