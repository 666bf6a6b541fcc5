/** Returns the address of a replay that begins at a moment. */
export function momentAddress(page: string, sinceStartMs: number): string {
  const address = new URL(page)
  address.searchParams.delete('at')
  address.searchParams.set('t', (Math.max(0, sinceStartMs) / 1_000).toFixed(1))
  return address.href
}

/** Copies a link to a moment. */
export async function copyAddress(sinceStartMs: number): Promise<void> {
  const address = momentAddress(location.href, sinceStartMs)
  try {
    await navigator.clipboard.writeText(address)
  } catch {
    // Without permission the address bar has the link.
    history.replaceState(history.state, '', address)
  }
}
