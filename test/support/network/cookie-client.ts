interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  readonly attributes: string
}

export interface Page {
  readonly status: number
  readonly url: string
  readonly headers: Headers
  readonly text: string
}

/** Creates the part of a browser that a sign-in needs: a cookie jar, redirects, and forms. It runs no scripts. */
export function createBrowser(baseUrl: string) {
  const cookies: Cookie[] = []
  /** Every requested address, redirects included. */
  const visitedUrls: string[] = []

  const remember = (url: URL, header: string) => {
    const [pair = '', ...attributes] = header.split('; ')
    const name = pair.slice(0, pair.indexOf('='))
    const path = /path=([^;]+)/i.exec(header)?.[1] ?? url.pathname
    const known = cookies.findIndex((cookie) => cookie.name === name && cookie.path === path)
    if (known >= 0) cookies.splice(known, 1)
    if (/max-age=0\b|expires=Thu, 01 Jan 1970/i.test(header)) return
    cookies.push({ name, value: pair.slice(name.length + 1), path, attributes: attributes.join('; ') })
  }
  const cookiesFor = (url: URL) =>
    cookies
      .filter(({ path }) => url.pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')

  /** Sends a request and follows its redirects, until `stop` or an answer. */
  async function go(path: string, init: RequestInit = {}, stop?: (url: URL) => boolean): Promise<Page> {
    let request = init
    for (let url = new URL(path, baseUrl), hops = 0; hops < 20; hops++) {
      visitedUrls.push(url.href)
      if (stop?.(url)) return { status: 0, url: url.href, headers: new Headers(), text: '' }
      const headers = new Headers(request.headers)
      headers.set('Accept', 'text/html,application/xhtml+xml')
      headers.set('Cookie', cookiesFor(url))
      const reply = await fetch(url, { ...request, headers, redirect: 'manual' })
      for (const header of reply.headers.getSetCookie()) remember(url, header)
      const location = reply.headers.get('Location')
      const text = await reply.text()
      if (!location) return { status: reply.status, url: url.href, headers: reply.headers, text }
      url = new URL(location, url)
      request = {}
    }
    throw new Error(`too many redirects from ${path}`)
  }

  return {
    visited: visitedUrls,
    go,
    cookie: (name: string) => cookies.find((cookie) => cookie.name === name),
    cookieHeader: () => cookiesFor(new URL('/', baseUrl)),
    /** Submits fields to the page's own address, as its forms do. */
    submit: (page: Page, fields: Record<string, string>, stop?: (url: URL) => boolean) =>
      go(page.url, { method: 'POST', body: new URLSearchParams(fields) }, stop),
  }
}
