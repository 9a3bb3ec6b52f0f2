"""Mutations of divided programs (`generic_ir.py`): faults of sums, parts and ranks that a pass could have. Each is a function that changes a
program, with what finds it: the verifier, or values that differ from those of the undivided program."""

import re

from generic_ir import Body, Op

VERIFIER, VALUES = "the verifier", "values"
PARTIAL = re.compile(r", #mtc.partial<.*?>(?=>)")

MUTATIONS = {}


class Inapplicable(Exception):
    """The program has no operation that the mutation changes."""


def mutation(found_by: str):
    def register(function):
        MUTATIONS[function.__name__] = (function, found_by)
        return function

    return register


def first(ops, where=lambda op: True) -> Op:
    for op in ops:
        if where(op):
            return op
    raise Inapplicable


def whole(kind: str) -> str:
    return PARTIAL.sub("", kind)


def terms(body: Body, of_chunks=False) -> list[Op]:
    """Returns the `mtc.partial` of one reduction over several chunks, or of any."""
    reduce = first(body.named("all_reduce", "reduce_scatter"), lambda op: not of_chunks or len(op.operands) > 1)
    return [body.definition(operand) for operand in reduce.operands if body.definition(operand).name == "mtc.partial"]


def change_types(body: Body, change):
    for op in body.ops:
        op.operand_types = [change(kind) for kind in op.operand_types]
        op.result_types = [change(kind) for kind in op.result_types]


# --- Sums that are missing ---------------------------------------------------------------------------------------------


@mutation(VERIFIER)
def addend_used_as_the_sum(body):
    reduce = first(body.named("all_reduce"))
    body.replace(reduce.results[0], reduce.operands[0], reduce.operand_types[0])
    body.ops.remove(reduce)


@mutation(VALUES)
def addend_without_its_type_used_as_the_sum(body):
    reduce = first(body.named("all_reduce"), lambda op: body.definition(op.operands[0]).name == "mtc.partial")
    body.replace(reduce.results[0], body.definition(reduce.operands[0]).operands[0])
    body.ops.remove(reduce)


@mutation(VERIFIER)
def addend_and_all_that_follows_partial(body):
    """A pass that propagates the encoding through operations that it does not know."""
    reduce = first(body.named("all_reduce"))
    kind, partial = reduce.operand_types[0], PARTIAL.search(reduce.operand_types[0])[0]
    pending = [(reduce.results[0], reduce.operands[0], kind)]
    body.ops.remove(reduce)
    while pending:
        value, other, kind = pending.pop()
        users = body.users(value)
        body.replace(value, other, kind)
        for user in users:
            for i, result in enumerate(user.results):
                if not PARTIAL.search(user.result_types[i]):
                    user.result_types[i] = user.result_types[i][:-1] + partial + ">"
                    pending.append((result, result, user.result_types[i]))


@mutation(VERIFIER)
def addend_returned(body):
    reduce = first(body.named("all_reduce"))
    end = body.ops[-1]
    end.operands, end.operand_types = [reduce.operands[0], *end.operands[1:]], [reduce.operand_types[0], *end.operand_types[1:]]


@mutation(VERIFIER)
def addend_written_to_a_variable(body):
    write, reduce = first(body.named("write")), first(body.named("all_reduce"))
    body.ops.remove(write)
    body.ops.insert(-1, write)
    write.operands, write.operand_types = [reduce.operands[0]], [reduce.operand_types[0]]


@mutation(VERIFIER)
def addends_gathered_instead_of_added(body):
    reduce = first(body.named("all_reduce"))
    reduce.name, reduce.attributes = "mtc.all_gather", " <{ranks = 2 : i64}>"
    reduce.operands, reduce.operand_types = reduce.operands[:1], reduce.operand_types[:1]


# --- Sums that are wrong -----------------------------------------------------------------------------------------------


@mutation(VERIFIER)
def sum_of_a_whole_value(body):
    reduce = first(body.named("all_reduce"))
    again = body.insert(reduce, "all_reduce", [reduce.results[0]], [reduce.result_types[0]], reduce.result_types[0])
    for op in body.users(reduce.results[0]):
        if again not in op.results:
            op.operands = [again if operand == reduce.results[0] else operand for operand in op.operands]


@mutation(VALUES)
def sum_added_again(body):
    reduce = first(body.named("all_reduce"), lambda op: op.result_types[0].endswith("f32>") and "<add" in op.operand_types[0])
    kind = reduce.result_types[0][:-1] + ", #mtc.partial<add, ranks = 2>>"
    partial = body.insert(reduce, "partial", [reduce.results[0]], [reduce.result_types[0]], kind)
    again = body.insert(body.definition(partial), "all_reduce", [partial], [kind], reduce.result_types[0])
    for op in body.users(reduce.results[0]):
        if partial not in op.results:
            op.operands = [again if operand == reduce.results[0] else operand for operand in op.operands]


@mutation(VALUES)
def average_instead_of_sum(body):
    reduce = first(body.named("all_reduce"), lambda op: op.result_types[0].endswith("f32>") and "<add" in op.operand_types[0])
    kind = reduce.result_types[0]
    half = body.insert(reduce, "constant", [], [], kind, f" <{{value = dense<0.5> : {kind}}}>")
    average = body.insert(body.definition(half), "mul", [reduce.results[0], half], [kind] * 2, kind)
    for op in body.users(reduce.results[0]):
        if average not in op.results:
            op.operands = [average if operand == reduce.results[0] else operand for operand in op.operands]


@mutation(VALUES)
def addend_added_to_itself(body):
    reduce = first(body.named("all_reduce", "reduce_scatter"), lambda op: "<add" in op.operand_types[0])
    kind = reduce.operand_types[0]
    place = body.definition(reduce.operands[0])
    reduce.operands[0] = body.insert(place, "add", [reduce.operands[0]] * 2, [kind] * 2, kind)


@mutation(VALUES)
def maximum_instead_of_sum(body):
    first(body.named("partial"), lambda op: "<add" in op.result_types[0])
    change_types(body, lambda kind: kind.replace("#mtc.partial<add", "#mtc.partial<max"))
    if any(op.name == "mtc.add" and PARTIAL.search(op.result_types[0]) for op in body.ops):
        raise Inapplicable


@mutation(VALUES)
def sum_instead_of_maximum(body):
    first(body.named("partial"), lambda op: "<max" in op.result_types[0])
    change_types(body, lambda kind: kind.replace("#mtc.partial<max", "#mtc.partial<add"))


@mutation(VERIFIER)
def kinds_that_differ(body):
    reduce = first(body.named("all_reduce", "reduce_scatter"), lambda op: len(op.operands) > 1)
    partial = body.definition(reduce.operands[1])
    other = partial.result_types[0].replace("<add", "<max")
    partial.result_types[0] = other
    body.replace(partial.results[0], partial.results[0], other)


@mutation(VALUES)
def whole_value_added_by_every_rank(body):
    """A bias that is added to the addend of each rank."""
    reduce = first(body.named("all_reduce", "reduce_scatter"), lambda op: "<add" in op.operand_types[0])
    kind = reduce.operand_types[0]
    place = body.definition(reduce.operands[0])
    ones = body.insert(place, "constant", [], [], whole(kind), f" <{{value = dense<1.0> : {whole(kind)}}}>")
    partial = body.insert(body.definition(ones), "partial", [ones], [whole(kind)], kind)
    total = body.insert(body.definition(partial), "add", [reduce.operands[0], partial], [kind] * 2, kind)
    reduce.operands[0] = total
    # One rank would add it once.
    if "broadcast" in place.name:
        raise Inapplicable


@mutation(VERIFIER)
def whole_value_added_to_an_addend(body):
    reduce = first(body.named("all_reduce", "reduce_scatter"))
    kind = reduce.operand_types[0]
    place = body.definition(reduce.operands[0])
    ones = body.insert(place, "constant", [], [], whole(kind), f" <{{value = dense<1.0> : {whole(kind)}}}>")
    reduce.operands[0] = body.insert(body.definition(ones), "add", [reduce.operands[0], ones], [kind, whole(kind)], kind)


def with_unary(body: Body, name: str, attributes="", element: str | None = None):
    reduce = first(body.named("all_reduce", "reduce_scatter"), lambda op: "f32" in op.operand_types[0])
    kind = reduce.operand_types[0]
    result = kind.replace("f32", element) if element else kind
    reduce.operands[0] = body.insert(body.definition(reduce.operands[0]), name, [reduce.operands[0]], [kind], result, attributes)
    reduce.operand_types[0] = result


@mutation(VERIFIER)
def activation_before_the_sum(body):
    with_unary(body, "tanh")


@mutation(VERIFIER)
def rounded_before_the_sum(body):
    with_unary(body, "cast", element="bf16")


@mutation(VERIFIER)
def product_of_addends(body):
    reduce = first(body.named("all_reduce", "reduce_scatter"))
    kind = reduce.operand_types[0]
    reduce.operands[0] = body.insert(body.definition(reduce.operands[0]), "mul", [reduce.operands[0]] * 2, [kind] * 2, kind)


@mutation(VALUES)
def negated_before_the_sum(body):
    with_unary(body, "neg")


@mutation(VERIFIER)
def contraction_of_an_addend(body):
    reduce = first(body.named("all_reduce"))
    user = first(body.named("contract"), lambda op: any(reduce.results[0] == operand for operand in op.operands))
    user.operand_types = [reduce.operand_types[0] if o == reduce.results[0] else k for o, k in zip(user.operands, user.operand_types)]
    user.operands = [reduce.operands[0] if operand == reduce.results[0] else operand for operand in user.operands]


# --- Chunks ------------------------------------------------------------------------------------------------------------


@mutation(VERIFIER)
def chunk_missing(body):
    reduce = first(body.named("all_reduce", "reduce_scatter"), lambda op: len(op.operands) > 1)
    del reduce.operands[-1], reduce.operand_types[-1]


@mutation(VERIFIER)
def chunk_twice(body):
    reduce = first(body.named("all_reduce", "reduce_scatter"), lambda op: len(op.operands) > 1)
    reduce.operands[1], reduce.operand_types[1] = reduce.operands[0], reduce.operand_types[0]


@mutation(VERIFIER)
def chunks_in_another_order(body):
    reduce = first(body.named("all_reduce", "reduce_scatter"), lambda op: len(op.operands) > 1)
    reduce.operands.reverse()
    reduce.operand_types.reverse()


@mutation(VERIFIER)
def addends_of_two_chunks_added(body):
    one, other = terms(body, of_chunks=True)[:2]
    kind = one.result_types[0]
    reduce = first(body.users(other.results[0]))
    total = body.insert(other, "add", [one.results[0], other.results[0]], [kind, other.result_types[0]], kind)
    reduce.operands[reduce.operands.index(one.results[0])] = total


@mutation(VALUES)
def chunk_computed_from_another_one(body):
    one, other = terms(body, of_chunks=True)[:2]
    other.operands = one.operands


@mutation(VALUES)
def chunk_of_another_offset(body):
    one, other = (first(body.named("slice"), lambda op: f"offsets = array<i64: 0, {i}, 0>" in op.attributes) for i in (0, 1))
    other.attributes = one.attributes


# --- Groups and parts --------------------------------------------------------------------------------------------------


@mutation(VALUES)
def sum_over_a_larger_group(body):
    first(body.named("partial"))
    change_types(body, lambda kind: kind.replace("ranks = 2", "ranks = 4"))
    if body.named("reduce_scatter"):
        raise Inapplicable


@mutation(VALUES)
def sum_over_one_rank(body):
    first(body.named("partial"), lambda op: "<add" in op.result_types[0])
    change_types(body, lambda kind: kind.replace("ranks = 2", "ranks = 1"))
    if body.named("reduce_scatter"):
        raise Inapplicable


@mutation(VALUES)
def sum_over_ranks_of_another_stride(body):
    first(body.named("partial"))
    change_types(body, lambda kind: kind.replace("ranks = 2", "ranks = 2, stride = 2"))
    if body.named("reduce_scatter"):
        raise Inapplicable


@mutation(VERIFIER)
def groups_that_differ(body):
    """A chunk of another group, or parts for the ranks of another group."""
    reduce = first(body.named("all_reduce", "reduce_scatter"), lambda op: len(op.operands) > 1 or op.name == "mtc.reduce_scatter")
    partial = body.definition(reduce.operands[0])
    partial.result_types[0] = partial.result_types[0].replace("ranks = 2", "ranks = 4")
    body.replace(partial.results[0], partial.results[0], partial.result_types[0])


@mutation(VERIFIER)
def scatter_in_place_of_the_whole_sum(body):
    reduce = first(body.named("all_reduce"), lambda op: re.match(r"tensor<\d*[02468]x", op.result_types[0]))
    extent = int(re.match(r"tensor<(\d+)x", reduce.result_types[0])[1])
    reduce.name, reduce.attributes = "mtc.reduce_scatter", " <{split = #mtc.axis_split<axis = 0, parts = 2>}>"
    part = reduce.result_types[0].replace(f"<{extent}x", f"<{extent // 2}x", 1)
    body.replace(reduce.results[0], reduce.results[0], part)
    reduce.result_types = [part]


@mutation(VERIFIER)
def whole_sum_in_place_of_a_part(body):
    reduce = first(body.named("reduce_scatter"))
    reduce.name, reduce.attributes = "mtc.all_reduce", ""
    reduce.result_types = [whole(reduce.operand_types[0])]
    body.replace(reduce.results[0], reduce.results[0], reduce.result_types[0])


@mutation(VERIFIER)
def scatter_along_another_axis(body):
    reduce = first(body.named("reduce_scatter"))
    rows, columns = map(int, re.match(r"tensor<(\d+)x(\d+)x", whole(reduce.operand_types[0])).groups())
    reduce.attributes = reduce.attributes.replace("axis = 0", "axis = 1")
    reduce.result_types = [reduce.result_types[0].replace(f"<{rows // 2}x{columns}x", f"<{rows}x{columns // 2}x")]
    body.replace(reduce.results[0], reduce.results[0], reduce.result_types[0])


@mutation(VERIFIER)
def scatter_to_a_larger_group(body):
    reduce = first(body.named("reduce_scatter"))
    reduce.attributes = reduce.attributes.replace("parts = 2", "parts = 4")


@mutation(VALUES)
def part_of_another_rank(body):
    """The first index of a part, or its number, is that of the other rank."""
    own = first(body.named("own_piece"), lambda op: "i64" in op.operand_types[0])
    constant = body.definition(own.operands[0])
    constant.attributes = re.sub(r"dense<\[(\d+), (\d+)\]>", r"dense<[\2, \1]>", constant.attributes)


@mutation(VALUES)
def parts_gathered_in_another_order(body):
    gather = first(body.named("all_gather"), lambda op: "addends" not in op.attributes)
    rows = first(body.users(gather.results[0]))
    kind = rows.operand_types[0]
    swapped = body.insert(gather, "reverse", [gather.results[0]], [kind], kind, " <{axes = array<i64: 0>}>")
    rows.operands = [swapped]


@mutation(VERIFIER)
def part_used_as_the_whole(body):
    gather = first(body.named("all_gather"), lambda op: "addends" not in op.attributes)
    body.replace(gather.results[0], gather.operands[0], gather.operand_types[0])
    body.ops.remove(gather)


@mutation(VALUES)
def heads_of_a_fused_weight_in_blocks(body):
    """A part of fused queries, keys and values that mixes them."""
    first(body.named("attention"))
    text = "\n".join(body.before)
    body.before = text.replace("axis = 1, outer = 3, parts = 2", "axis = 1, parts = 2").splitlines()
    if "\n".join(body.before) == text:
        raise Inapplicable


@mutation(VALUES)
def rows_of_a_weight_in_another_order(body):
    text = "\n".join(body.before)
    body.before = re.sub(r"axis = 0, parts = 2", "axis = 0, outer = 2, parts = 2", text, count=1).splitlines()
    if "\n".join(body.before) == text:
        raise Inapplicable


@mutation(VALUES)
def rows_of_other_ranks_not_masked(body):
    """Every rank adds the row that it has at the index 0."""
    gather = first(body.named("gather"))
    select = first(body.users(gather.results[0]), lambda op: op.name == "mtc.select")
    body.replace(select.results[0], gather.results[0])
