/** Turns the rows of a `group by status` into a record that names every status, zeros included. */
export function countsOf<S extends string>(
  statuses: readonly S[],
  rows: readonly { readonly status: S; readonly count: number }[],
): Record<S, number> {
  const counts = Object.fromEntries(statuses.map((status) => [status, 0])) as Record<S, number>
  for (const { status, count } of rows) counts[status] = count
  return counts
}
