use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::*;
use crate::walk::WalkRoot;

/// Where a visit fails: in itself, in a helper that it shares work with, or not at all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fails {
    Visit,
    Helper,
    Never,
}

impl Visitor for Fails {
    type State = ();
    type Output = u64;

    fn weight(_: &u64) -> usize {
        0
    }

    fn state(&self) {}

    fn visit(&self, (): &mut (), batch: &Batch, scan: &dyn WalkControl, found: &Mutex<u64>) {
        let last = batch.entries().any(|(name, _)| name == b"last");
        match self {
            Fails::Visit if last => panic!("a visit fails"),
            Fails::Helper if last => {
                scan.share_work(Arc::new(|_| panic!("a helper fails")));
                while scan.keeps_going() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            _ => *lock(found) += batch.entries().count() as u64,
        }
    }
}

struct Sum(u64);

impl ResultSink<u64> for Sum {
    fn directory(&mut self, _: DirectoryReport) {}

    fn results(&mut self, found: u64) -> ControlFlow<()> {
        self.0 += found;
        ControlFlow::Continue(())
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test makes its own tree")]
fn a_panic_in_a_visit_or_a_helper_ends_the_call_at_once_and_the_next_one_works() {
    let root = tempfile::tempdir().unwrap();
    for name in ["a/one", "b/two", "last"] {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    let workspace = Workspace::open(root.path()).unwrap();
    let pool = Pool::new(3);
    let call = Call::default().with_timeout(Duration::from_secs(30));
    let run = |fails| {
        let roots = WalkRoot::resolve(&workspace, &[]).unwrap();
        let options = WalkOptions { roots, ..WalkOptions::default() };
        Walk::run(&workspace, options, (&pool, &call), (fails, Sum(0)))
    };
    for (fails, why) in [(Fails::Visit, "a visit fails"), (Fails::Helper, "a helper fails")] {
        let started = Instant::now();
        let Err(error) = run(fails) else { panic!("{why}, and nobody is told") };
        assert_eq!(error.code(), ErrorCode::Internal);
        assert!(error.to_string().contains(why), "{error}");
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
        let (sum, incomplete) = run(Fails::Never).unwrap();
        assert_eq!((sum.0, incomplete), (3, None));
    }
}
