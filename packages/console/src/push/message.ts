const HOME = '/dashboard'
const MAX_CHARACTERS = 500

/**
 * Reads the payload of a push message. Browsers withdraw the permission of pages that show nothing for a message, so that
 * an unreadable payload results in a notification with the host.
 */
export function readMessage(payload: string | undefined, origin: string) {
  const { title, text, tag, path } = objectIn(payload)
  return {
    title: stringOr(title, new URL(origin).host),
    text: stringOr(text, ''),
    /** Browsers replace a shown notification with the same tag. */
    tag: stringOr(tag, 'wheelhouse'),
    path: consolePath(path, origin),
  }
}

/** Returns a path below the console, whatever a message contains. Others become the home page. */
export function consolePath(path: unknown, origin: string): string {
  if (typeof path !== 'string' || !URL.canParse(path, origin)) return HOME
  const url = new URL(path, origin)
  const ofConsole = url.pathname === HOME || url.pathname.startsWith(`${HOME}/`)
  return url.origin === origin && ofConsole ? url.pathname + url.search : HOME
}

/** Returns whether a window shows the page of a path already. Its session or export may have a page with another address. */
export function showsPage(windowUrl: string, path: string): boolean {
  const shown = new URL(windowUrl)
  const wanted = new URL(path, shown.origin)
  if (shown.pathname === wanted.pathname && shown.search === wanted.search) return true
  const [subject] = wanted.searchParams.values()
  if (subject === undefined || !shown.pathname.startsWith(`${HOME}/`)) return false
  return shown.pathname.split('/').includes(subject) || [...shown.searchParams.values()].includes(subject)
}

function objectIn(payload: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(payload ?? '')
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

const stringOr = (value: unknown, fallback: string): string =>
  typeof value === 'string' && value !== '' ? value.slice(0, MAX_CHARACTERS) : fallback
