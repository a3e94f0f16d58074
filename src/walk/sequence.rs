//! Results that arrive in any order, handed out in the order of their places.

/// A place in a [`Sequence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(usize);

/// A list whose places are known before their values, and which grows in the middle: a
/// directory's place becomes the places of what is in it.
#[derive(Debug)]
pub(crate) struct Sequence<T> {
    slots: Vec<Slot<T>>,
    /// Slots handed out already and free to be used again.
    free: Vec<usize>,
    head: Option<usize>,
}

#[derive(Debug)]
struct Slot<T> {
    next: Option<usize>,
    value: Option<T>,
    /// Nothing will come any more; a filled or abandoned slot lets the head pass.
    settled: bool,
}

impl<T> Sequence<T> {
    /// A sequence of one open place.
    pub(crate) fn new() -> (Sequence<T>, Place) {
        let slot = Slot { next: None, value: None, settled: false };
        (Sequence { slots: vec![slot], free: Vec::new(), head: Some(0) }, Place(0))
    }

    /// Settles an open place with `value` and inserts `count` open places after it.
    pub(crate) fn expand(&mut self, place: Place, value: T, count: usize) -> Vec<Place> {
        let mut next = self.slots.get(place.0).and_then(|slot| slot.next);
        let mut places: Vec<Place> = (0..count)
            .map(|_| {
                let index = self.insert(next);
                next = Some(index);
                Place(index)
            })
            .collect();
        places.reverse();
        if let Some(slot) = self.slots.get_mut(place.0) {
            *slot = Slot { next, value: Some(value), settled: true };
        }
        places
    }

    /// Gives an open place its value, which may still change until the place is settled.
    pub(crate) fn show(&mut self, place: Place, value: T) {
        if let Some(slot) = self.slots.get_mut(place.0) {
            slot.value = Some(value);
        }
    }

    /// Settles an open place.
    pub(crate) fn settle(&mut self, place: Place) {
        if let Some(slot) = self.slots.get_mut(place.0) {
            slot.settled = true;
        }
    }

    /// Tells whether the first place is settled.
    pub(crate) fn is_ready(&self) -> bool {
        let first = self.head.and_then(|index| self.slots.get(index));
        first.is_some_and(|slot| slot.settled)
    }

    /// The value of the first place, if it is settled.
    pub(crate) fn pop(&mut self) -> Option<T> {
        while let Some(index) = self.head {
            let slot = self.slots.get_mut(index).filter(|slot| slot.settled)?;
            self.head = slot.next;
            let value = slot.value.take();
            self.free.push(index);
            if value.is_some() {
                return value;
            }
        }
        None
    }

    /// Takes what the first open place has so far.
    pub(crate) fn take_open(&mut self) -> Option<T> {
        self.first()?.value.take()
    }

    /// Gives up the first open place, so that what is settled behind it comes out.
    pub(crate) fn skip_open(&mut self) -> bool {
        let open = self.first();
        open.map(|slot| slot.settled = true).is_some()
    }

    fn first(&mut self) -> Option<&mut Slot<T>> {
        self.head.and_then(|index| self.slots.get_mut(index))
    }

    fn insert(&mut self, next: Option<usize>) -> usize {
        let slot = Slot { next, value: None, settled: false };
        if let Some(index) = self.free.pop() {
            if let Some(place) = self.slots.get_mut(index) {
                *place = slot;
            }
            index
        } else {
            self.slots.push(slot);
            self.slots.len() - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(sequence: &mut Sequence<u32>, place: Place, value: u32) {
        sequence.show(place, value);
        sequence.settle(place);
    }

    fn drain(sequence: &mut Sequence<u32>) -> Vec<u32> {
        std::iter::from_fn(|| sequence.pop()).collect()
    }

    #[test]
    fn values_come_out_in_the_order_of_places_whatever_order_they_went_in() {
        let (mut sequence, root) = Sequence::new();
        let places = sequence.expand(root, 0, 3);
        fill(&mut sequence, places[2], 30);
        assert_eq!(drain(&mut sequence), [0]);
        let inner = sequence.expand(places[1], 20, 2);
        fill(&mut sequence, places[0], 10);
        assert_eq!(drain(&mut sequence), [10, 20]);
        fill(&mut sequence, inner[1], 22);
        fill(&mut sequence, inner[0], 21);
        assert_eq!(drain(&mut sequence), [21, 22, 30]);
        assert!(!sequence.skip_open());
    }

    #[test]
    fn a_slot_is_used_again_only_after_it_came_out() {
        let (mut sequence, root) = Sequence::new();
        let mut place = root;
        for value in 0..1000 {
            let places = sequence.expand(place, value, 1);
            assert_eq!(sequence.pop(), Some(value));
            place = places[0];
        }
        assert!(sequence.slots.len() <= 3, "{}", sequence.slots.len());
    }

    #[test]
    fn giving_up_an_open_place_frees_what_is_behind_it() {
        let (mut sequence, root) = Sequence::new();
        let places = sequence.expand(root, 0, 3);
        fill(&mut sequence, places[2], 30);
        assert_eq!(drain(&mut sequence), [0]);
        sequence.show(places[0], 10);
        assert_eq!(sequence.take_open(), Some(10));
        assert!(sequence.skip_open());
        assert_eq!((sequence.pop(), sequence.take_open()), (None, None));
        assert!(sequence.skip_open());
        assert_eq!(drain(&mut sequence), [30]);
        assert!(!sequence.skip_open());
    }
}
