/** Host names of the local machine. */
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Returns the address of a video. An address of this page's origin under another loopback name (localhost, 127.0.0.1)
 * becomes a path, which makes it same-origin.
 * @returns undefined for an address that is not http or https
 */
export function videoUrl(url: string, page: Pick<Location, 'href'> = location): string | undefined {
  if (!URL.canParse(url, page.href)) return undefined
  const [target, current] = [new URL(url, page.href), new URL(page.href)]
  if (target.protocol !== 'http:' && target.protocol !== 'https:') return undefined
  const sameMachine = LOOPBACK.has(target.hostname) && LOOPBACK.has(current.hostname)
  if (!sameMachine || target.port !== current.port || target.protocol !== current.protocol) return target.href
  return target.pathname + target.search
}
