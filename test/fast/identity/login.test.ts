import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBrowser } from '../../support/network/cookie-client.ts'
import {
  ALLOWED_ORIGIN,
  createIdentityWorld,
  type IdentityWorld,
} from '../../support/world/identity-world.ts'

let world: IdentityWorld
beforeAll(async () => {
  world = await createIdentityWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const PROFILE = '/api/auth/profile'

async function signIn(email: string, path = `/auth/login?return_to=${encodeURIComponent(PROFILE)}`) {
  const browser = createBrowser(world.baseUrl)
  const page = await browser.submit(await browser.go(path), { email })
  return { browser, page }
}

test('a sign-in with a demo account ends at the requested page', async () => {
  const { browser, page } = await signIn('ada@example.com')

  expect(page).toMatchObject({ status: 200, url: world.baseUrl + PROFILE })
  expect(JSON.parse(page.text)).toMatchObject({
    email: 'ada@example.com',
    display_name: 'Ada <Owner>',
    roles: [],
    onboarded: false,
  })
  const cookie = browser.cookie('__session')
  expect(cookie?.attributes).toMatch(/Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
  expect(Number(/Max-Age=(\d+)/.exec(cookie?.attributes ?? '')?.[1])).toBeGreaterThan(8 * 3600 - 60)
  expect(browser.cookie('__login')).toBeUndefined()
})

test('any e-mail address is accepted, in upper or lower case', async () => {
  const { page } = await signIn('New.Person@Example.com')

  expect(JSON.parse(page.text)).toMatchObject({ email: 'new.person@example.com', display_name: 'new.person' })
})

test('an invalid e-mail address shows the form again', async () => {
  const { page } = await signIn('"><script>')

  expect(page.status).toBe(400)
  expect(page.text).toContain('not an e-mail address')
  expect(page.text).not.toContain('<script')
})

test('the sign-in page escapes names and names the development provider', async () => {
  const page = await createBrowser(world.baseUrl).go('/auth/login')

  expect(page.text).toContain('Ada &lt;Owner&gt;')
  expect(page.text).not.toContain('<Owner>')
  expect(page.text).not.toContain('<script')
  expect(page.text).toContain('without a password')
})

test('the page’s form-action allows every address that its redirects reach', async () => {
  const browser = createBrowser(world.baseUrl)
  const page = await browser.go(`/auth/login?return_to=${PROFILE}`)
  const policy = page.headers.get('Content-Security-Policy') ?? ''
  browser.visited.length = 0
  await browser.submit(page, { email: 'ada@example.com' })

  const allowed = /form-action ([^;]+)/.exec(policy)?.[1]?.replace("'self'", world.baseUrl).split(' ')
  for (const url of browser.visited) expect(allowed).toContain(new URL(url).origin)
  expect(policy).toContain("default-src 'none'")
})

test('a second sign-in in the same browser can choose another account', async () => {
  const { browser } = await signIn('ada@example.com')
  const page = await browser.submit(await browser.go(`/auth/login?return_to=${PROFILE}`), {
    email: 'grace@example.com',
  })

  expect(JSON.parse(page.text)).toMatchObject({ email: 'grace@example.com' })
})

test('a cancelled sign-in is reported and signs no user in', async () => {
  const browser = createBrowser(world.baseUrl)
  const page = await browser.submit(await browser.go('/auth/login'), { cancel: '1' })

  expect(page.status).toBe(403)
  expect(page.text).toContain('cancelled')
  expect(browser.cookie('__session')).toBeUndefined()
})

test('an alias of the loopback address redirects to the base URL, which has the cookies', async () => {
  const { port } = new URL(world.baseUrl)
  const reply = await askAs(`127.0.0.1:${port}`, '/auth/login?return_to=/x')

  expect(reply).toEqual({ status: 302, location: `${world.baseUrl}/auth/login?return_to=/x` })
})

test('the provider rejects requests under foreign host names', async () => {
  const { port } = new URL(world.baseUrl)
  const path = '/idp/.well-known/openid-configuration'

  expect((await askAs(`evil.example:${port}`, path)).status).toBe(403)
  expect((await askAs(`localhost:${port}`, path)).status).toBe(200)
})

/** Sends a request with a custom Host header, which fetch does not allow. */
async function askAs(host: string, path: string) {
  const asked = request(world.baseUrl + path, { headers: { Host: host } }).end()
  const [reply] = (await once(asked, 'response')) as [IncomingMessage]
  reply.resume()
  return { status: reply.statusCode, location: reply.headers.location }
}

describe('the callback', () => {
  test('rejects a state of another browser', async () => {
    const reply = await fetch(`${world.baseUrl}/auth/callback?code=x&state=y`)

    expect(reply.status).toBe(400)
    expect(await reply.json()).toEqual({ error: expect.stringContaining('Start again') })
  })

  test('works once', async () => {
    const { browser } = await signIn('ada@example.com')
    const callback = browser.visited.find((url) => url.includes('/auth/callback?')) ?? ''
    const again = await browser.go(callback)

    expect(again.status).toBe(400)
    expect(again.headers.get('Content-Type')).toContain('text/html')
  })

  test('rejects a forged state cookie', async () => {
    const forged = Buffer.from(
      JSON.stringify({ state: 's', nonce: 'n', verifier: 'v', returnTo: '/', expiresAt: 9e15 }),
    ).toString('base64url')
    for (const signature of ['', '.', `.${'A'.repeat(43)}`]) {
      const reply = await fetch(`${world.baseUrl}/auth/callback?code=c&state=s`, {
        headers: { Cookie: `__login=${forged}${signature}` },
      })
      expect(reply.status).toBe(400)
    }
  })
})

test.each(['https://evil.example/', '/..//evil.example'])(
  'return_to=%s never leaves the origin',
  async (target) => {
    const { origin } = new URL(world.baseUrl)
    const browser = createBrowser(world.baseUrl)
    const start = await browser.go(`/auth/login?return_to=${encodeURIComponent(target)}`)
    browser.visited.length = 0
    await browser.submit(start, { email: 'ada@example.com' })

    for (const url of browser.visited) expect(new URL(url).origin).toBe(origin)
  },
)

describe('the session cookie', () => {
  const change = { display_name: 'Changed' }

  async function cookieHeader() {
    return (await signIn('ada@example.com')).browser.cookieHeader()
  }

  test('can read without an origin', async () => {
    const reply = await world.with({ Cookie: await cookieHeader() }).get(PROFILE)
    expect(reply.status).toBe(200)
  })

  // src/modules/identity/auth/same-origin.test.ts has the table of origins.
  test.each([
    ['nothing', {}, 403],
    ['another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }, 403],
    ['an allowed origin', { 'Sec-Fetch-Site': 'cross-site', Origin: ALLOWED_ORIGIN }, 200],
  ])('a change from %s: %o → %i', async (_name, headers, status) => {
    const reply = await world.with({ Cookie: await cookieHeader(), ...headers }).post(PROFILE, change)
    expect(reply.status).toBe(status)
  })

  test('can change data from the platform’s origin', async () => {
    const own = { Cookie: await cookieHeader(), Origin: world.baseUrl }
    expect((await world.with(own).post(PROFILE, change)).status).toBe(200)
  })

  test('is ignored if a bearer header is present, even an invalid one', async () => {
    const Cookie = await cookieHeader()
    const other = await world.tokenOf('grace')

    const both = await world.with({ Cookie, Authorization: `Bearer ${other}` }).get(PROFILE)
    const bad = await world.with({ Cookie, Authorization: 'Bearer nonsense' }).get(PROFILE)

    expect(both.body.email).toBe('grace@example.com')
    expect(bad.status).toBe(401)
  })
})

describe('logout', () => {
  test('clears the cookie', async () => {
    const { browser } = await signIn('ada@example.com')
    const page = await browser.go('/auth/logout', {
      method: 'POST',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
    })

    expect(page.url).toBe(`${world.baseUrl}/dashboard`)
    expect(browser.cookie('__session')).toBeUndefined()
  })

  test('returns 204 to programs', async () => {
    const reply = await fetch(`${world.baseUrl}/auth/logout`, {
      method: 'POST',
      headers: { Origin: world.baseUrl },
    })
    expect(reply.status).toBe(204)
    expect(reply.headers.get('Set-Cookie')).toMatch(/^__session=; Path=\/; Max-Age=0/)
  })

  test('rejects other sites and GET', async () => {
    const url = `${world.baseUrl}/auth/logout`
    const foreign = await fetch(url, { method: 'POST', headers: { Origin: 'https://evil.example' } })
    const byLink = await fetch(url)

    expect([foreign.status, byLink.status]).toEqual([403, 405])
    expect(byLink.headers.get('Allow')).toBe('POST')
    expect(foreign.headers.get('Set-Cookie')).toBeNull()
  })
})
