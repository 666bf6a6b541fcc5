/** Returns a count per status, zeros included, from the rows of a `group by status`. */
export function countsOf<S extends string>(
  statuses: readonly S[],
  rows: readonly { readonly status: S; readonly count: number }[],
): Record<S, number> {
  const counts = Object.fromEntries(statuses.map((status) => [status, 0])) as Record<S, number>
  for (const { status, count } of rows) counts[status] = count
  return counts
}
