/** Copies a link to a moment. */
export async function copyAddress(sinceStartMs: number): Promise<void> {
  const address = new URL(location.href)
  address.searchParams.delete('at')
  address.searchParams.set('t', (Math.max(0, sinceStartMs) / 1_000).toFixed(1))
  try {
    await navigator.clipboard.writeText(address.href)
  } catch {
    // Without permission the address bar has the link.
    history.replaceState(history.state, '', address)
  }
}
