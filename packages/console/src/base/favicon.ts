import { useEffect } from 'react'

/** What the icon of the window says of the robot; undefined for the plain icon. */
export type FaviconState = 'live' | 'delayed' | 'stopped' | undefined

// Shapes as well as colours: a disc, a triangle and a square. An icon has no custom properties.
const signs: Record<NonNullable<FaviconState>, string> = {
  live: '<circle cx="24" cy="24" r="7" fill="#45d39a"/>',
  delayed: '<path d="M24 15l9 16H15z" fill="#ffb840"/>',
  stopped: '<rect x="16" y="16" width="15" height="15" fill="#ff453e"/>',
}

const MARK =
  '<g fill="none" stroke="#1f6fd6" stroke-width="2.5" stroke-linecap="round"><circle cx="16" cy="16" r="9"/>' +
  '<path d="M16 1.75v28.5M1.75 16h28.5M22.36 9.64l3.72-3.72M9.64 9.64L5.92 5.92M9.64 22.36l-3.72 3.72"/></g>'

/** The browser loads each icon anew, in a process of its own. A picture that is late for a moment changes none. */
const SETTLED_MS = 500

/** Shows a state in the icon of the window while the component is mounted: an operator sees it in a tab in the background too. */
export function useFavicon(state: FaviconState): void {
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    if (!link) return
    plainIcon ??= link.href
    const icon = state ? iconOf(state) : plainIcon
    const timer = setTimeout(() => {
      link.href = icon
    }, SETTLED_MS)
    return () => clearTimeout(timer)
  }, [state])
  useEffect(() => showPlainIcon, [])
}

let plainIcon: string | undefined

function showPlainIcon(): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (link && plainIcon) link.href = plainIcon
}

const iconOf = (state: NonNullable<FaviconState>): string =>
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${MARK}${signs[state]}</svg>`,
  )}`
