import numpy as np
import pytest

from chunklab_core.cache.formats import pack_arrays, pack_json, unpack_arrays, unpack_json


def test_json_and_arrays_come_back() -> None:
    assert unpack_json(pack_json({"b": 1, "a": ["é", None, 0.1]})) == {"a": ["é", None, 0.1], "b": 1}
    assert pack_json({"b": 1, "a": 2}) == pack_json({"a": 2, "b": 1})
    arrays = unpack_arrays(pack_arrays({"x": np.arange(6, dtype=np.int32).reshape(2, 3)}))
    np.testing.assert_array_equal(arrays["x"], [[0, 1, 2], [3, 4, 5]])
    arrays["x"][0, 0] = 7  # the array can be changed
    with pytest.raises(ValueError, match="JSON compliant"):
        pack_json(float("nan"))


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "float16", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (0, 4), (2, 0), (2, 3, 4)])
def test_arrays_come_back_as_they_were(dtype: str, shape: tuple[int, ...]) -> None:
    numbers = np.random.default_rng(0).integers(0, 2, (4, *shape)).astype(dtype)
    given = {"first": numbers[0], "second": numbers.T, "third": numbers[::2]}
    back = unpack_arrays(pack_arrays(given))
    assert list(back) == list(given)
    for name, array in given.items():
        assert (back[name].dtype, back[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(back[name], array)


def test_an_array_of_objects_is_an_error() -> None:
    with pytest.raises(ValueError, match="x holds object; expected plain numbers"):
        pack_arrays({"x": np.array([{}])})
