/** The name that was probably meant, or `undefined` when none is near. Case, `-` and `_` do not count. */
export function closestName(typed: string, names: readonly string[]): string | undefined {
  const ranked = names.map((name) => ({ name, distance: editDistance(plain(typed), plain(name)) }));
  const nearest = ranked.sort((a, b) => a.distance - b.distance)[0];
  return nearest && nearest.distance <= Math.max(1, Math.floor(typed.length / 3)) ? nearest.name : undefined;
}

/** ` — did you mean X?`, or nothing. */
export function suggestion(typed: string, names: readonly string[]): string {
  const name = closestName(typed, names);
  return name === undefined ? '' : ` — did you mean ${name}?`;
}

/** `unknown key maxUsdd — did you mean maxUsd?`, and which there are. */
export function unknownKeys(typed: readonly string[], known: readonly string[]): string {
  const named = typed.map((key) => `${key}${suggestion(key, known)}`).join(', ');
  const there = known.length === 0 ? '' : `; it may have ${known.join(', ')}`;
  return `unknown ${typed.length > 1 ? 'keys' : 'key'} ${named}${there}`;
}

const plain = (name: string) => name.toLowerCase().replace(/[-_]/g, '');

/** How many letters must be added, dropped, changed or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) rows.push(nextRow(rows, row, from, to));
  return rows[from.length]![to.length]!;
}

function nextRow(rows: readonly number[][], row: number, from: string, to: string): number[] {
  const above = rows[row - 1]!;
  const current = [row];
  for (let column = 1; column <= to.length; column++) {
    const change = above[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1);
    const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
    const swap = isSwap ? rows[row - 2]![column - 2]! + 1 : Number.POSITIVE_INFINITY;
    current.push(Math.min(above[column]! + 1, current[column - 1]! + 1, change, swap));
  }
  return current;
}
