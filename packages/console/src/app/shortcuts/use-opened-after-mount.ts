import { useEffect, useState } from 'react'

/**
 * Returns `opened`, but false in the first render. A dialog remembers the focused element when it opens, which needs a render
 * before.
 */
export function useOpenedAfterMount(opened: boolean): boolean {
  const [shown, setShown] = useState(false)
  useEffect(() => setShown(opened), [opened])
  return shown
}
