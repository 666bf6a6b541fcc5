import { useEffect } from 'react'
import { createStore, useStore } from './store.ts'

/** How many mounted pages are dark: while one page replaces another, both are mounted. */
const darkPages = createStore(0)

/** Shows everything dark while the component is mounted, whatever the user's scheme: for pages that show pictures of robots. */
export function useDarkPage(): void {
  useEffect(() => {
    darkPages.update((count) => count + 1)
    return () => darkPages.update((count) => count - 1)
  }, [])
}

/** Returns whether a mounted page is always dark. */
export const useIsDarkPage = (): boolean => useStore(darkPages) > 0
