#![deny(warnings)]

use metaspy::observe;

pub struct Cell(u32);

#[observe]
impl Cell {
    /// # Safety
    /// None is needed.
    pub unsafe fn read(&self) -> u32 {
        self.0
    }

    #[track_caller]
    pub fn line(&self) -> u32 {
        std::panic::Location::caller().line()
    }

    #[observe(caller)]
    pub fn called(&self) -> u32 {
        std::panic::Location::caller().line()
    }

    #[observe(caller)]
    #[track_caller]
    pub fn called_and_tracked(&self) -> u32 {
        std::panic::Location::caller().line()
    }

    #[cfg(any())]
    pub fn never_compiled(&self) -> Missing {
        self.missing()
    }

    #[cfg(all())]
    #[doc = "documented"]
    #[inline]
    #[must_use]
    pub fn r#type(&self) -> u32 {
        self.0
    }

    #[observe(args(a, sum = a + b, self = self.0), ret)]
    pub fn shown(&self, a: u32, b: u32) -> u32 {
        if a == 0 {
            return b;
        }
        a + b
    }

    #[observe(args(a))]
    pub fn patterns(&self, (a, b): (u32, u32), [c, ..]: [u32; 3], mut d: u32, _: u32) -> u32 {
        d += 1;
        a + b + c + d
    }
}

#[observe(name = "module::function")]
pub unsafe fn dangerous() {}

fn main() {
    let cell = Cell(1);
    assert_eq!(cell.line(), line!());
    assert_eq!(cell.called(), line!());
    assert_eq!(cell.called_and_tracked(), line!());
    assert_eq!(cell.r#type() + cell.shown(0, 1) + cell.patterns((1, 2), [3, 0, 0], 4, 5), 13);
    // SAFETY: nothing is required of the callers of either.
    unsafe { dangerous() };
    // SAFETY: as above.
    assert_eq!(unsafe { cell.read() }, 1);
}
