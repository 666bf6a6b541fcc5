/** The names under which a machine knows itself. */
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * The address to ask for a video. One at this page's own origin under another name of the same machine (localhost,
 * 127.0.0.1) becomes a path of this page, so that nothing stands between the two.
 * @returns undefined for what is no address of the web
 */
export function videoUrl(url: string, page: Pick<Location, 'href'> = location): string | undefined {
  if (!URL.canParse(url, page.href)) return undefined
  const [there, here] = [new URL(url, page.href), new URL(page.href)]
  if (there.protocol !== 'http:' && there.protocol !== 'https:') return undefined
  const sameMachine = LOOPBACK.has(there.hostname) && LOOPBACK.has(here.hostname)
  if (!sameMachine || there.port !== here.port || there.protocol !== here.protocol) return there.href
  return there.pathname + there.search
}
