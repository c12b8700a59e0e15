from gold_worlds import located_corpus

from chunklab_core.score.places import SlotPlace
from chunklab_core.score.stored import pack_located, pack_slot_places, unpack_located, unpack_slot_places


def test_located_gold_is_read_back_as_it_was_stored() -> None:
    located = [each for _, _, each in located_corpus()[0]]

    assert [unpack_located(pack_located(each)) for each in located] == located


def test_the_places_of_slots_are_read_back_as_they_were_stored() -> None:
    places = {(0, 0): [SlotPlace(0, 2, 10, 20, 0), SlotPlace(1, 3, 0, 9, 2)], (1, 2): [SlotPlace(0, 0, 5, 6, 0)]}

    assert unpack_slot_places(pack_slot_places(places)) == places
    assert unpack_slot_places(pack_slot_places({})) == {}
