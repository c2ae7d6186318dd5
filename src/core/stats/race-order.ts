/**
 * The order in which a candidate meets the items: in turns the hardest and the easiest that are left, so that those the
 * current skill wins half of the time come last. A steady item that changes says much, one that wavers says little. Equals
 * keep their order, so shuffle the items first.
 */
export function raceOrder(items: readonly string[], rateOf: (id: string) => number): string[] {
  const rated = items.map((id) => ({ id, rate: rateOf(id) })).sort((a, b) => a.rate - b.rate);
  const half = Math.ceil(rated.length / 2);
  return rated.slice(0, half).flatMap(({ id }, place) => {
    const other = rated.length - 1 - place;
    return other > place ? [id, rated[other]!.id] : [id];
  });
}
