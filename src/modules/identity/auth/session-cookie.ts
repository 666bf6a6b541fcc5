import type { Context } from 'koa'

/**
 * Returns the name of the session cookie. Over https, the `__Host-` prefix makes the browser reject cookies that another
 * host of the same site or a plain http page sets.
 */
export const sessionCookieName = (baseUrl: string) =>
  baseUrl.startsWith('https:') ? '__Host-session' : '__session'

/** The cookie in which the console keeps the organization that a person acts for; links and pictures cannot send a header. */
export const ORGANIZATION_COOKIE = 'wheelhouse_organization'

/** Returns a cookie's value. With duplicates it returns the first, because browsers send the most specific path first. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) {
      return part
        .slice(at + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1')
    }
  }
  return undefined
}

/** Returns whether a request carries a session cookie, valid or not. The browser drops it when the session ends. */
export const hasSessionCookie = (http: Context, baseUrl: string): boolean =>
  Boolean(readCookie(http.req.headers.cookie, sessionCookieName(baseUrl)))

/**
 * Sets a cookie that scripts cannot read. It builds the header itself, because Koa rejects secure cookies behind a proxy
 * that terminates TLS.
 */
export function setCookie(
  http: Context,
  name: string,
  value: string,
  options: { maxAgeSeconds: number; secure: boolean },
): void {
  const parts = [`${name}=${value}`, 'Path=/', `Max-Age=${options.maxAgeSeconds}`, 'HttpOnly', 'SameSite=Lax']
  http.append('Set-Cookie', [...parts, ...(options.secure ? ['Secure'] : [])].join('; '))
}
