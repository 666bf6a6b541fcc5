import type { Context } from 'koa'

/**
 * Where the session token lives in a browser. Over https the `__Host-` prefix makes the browser itself refuse a
 * cookie that another host of the same site, or a plain http page, tries to plant.
 */
export const sessionCookieName = (baseUrl: string) =>
  baseUrl.startsWith('https:') ? '__Host-session' : '__session'

/** The value of one cookie of a Cookie header. The first one counts, as browsers send the closest one first. */
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

/**
 * Sets a cookie that scripts cannot read. Written by hand because Koa refuses secure cookies whenever it cannot
 * see the TLS itself, as behind a proxy that ends it.
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
