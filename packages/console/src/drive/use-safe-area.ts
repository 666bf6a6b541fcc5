import { useEffect } from 'react'

/**
 * Lets the page fill the screen of a phone up to its rounded corners and its notch while the component is mounted. The
 * layout keeps its controls within the safe area.
 */
export function useSafeArea(): void {
  useEffect(() => {
    const viewport = document.querySelector<HTMLMetaElement>('meta[name=viewport]')
    const before = viewport?.content
    if (!viewport || before === undefined) return
    viewport.content = `${before}, viewport-fit=cover`
    return () => {
      viewport.content = before
    }
  }, [])
}
