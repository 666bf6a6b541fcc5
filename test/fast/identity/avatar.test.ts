import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { cpuMsOf } from '../../support/world/cpu-time.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const AVATAR = '/api/auth/avatar'
const MAX_BYTES = 5 * 1024 * 1024
const red = { r: 220, g: 20, b: 20 }

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const blank = (width = 40, height = 30) => sharp({ create: { width, height, channels: 3, background: red } })
const png = () => blank().png().toBuffer()

/** Returns a form with a file per entry. */
function form(...files: [field: string, content: Buffer | string, type?: string][]): FormData {
  const made = new FormData()
  for (const [field, content, type = 'image/png'] of files) {
    made.append(field, new Blob([Uint8Array.from(Buffer.from(content))], { type }), 'picture.png')
  }
  return made
}

async function send(user: TestUser, body: BodyInit | undefined, headers: Record<string, string> = {}) {
  const response = await fetch(world.baseUrl + AVATAR, {
    method: 'POST',
    headers: { Authorization: `Bearer ${user.token}`, ...headers },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
}
const upload = (user: TestUser, content: Buffer) => send(user, form(['avatar', content]))

/** Uploads an image and returns its URL. */
async function accepted(user: TestUser, content: Buffer): Promise<string> {
  const reply = await upload(user, content)
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 })
  return reply.body.avatar_url
}
async function fetched(url: string): Promise<Buffer> {
  const response = await fetch(url)
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}
const stored = (user: TestUser) =>
  world.platform.core.db.selectFrom('avatars').select('name').where('user_id', '=', user.id).execute()
const profileUrl = async (user: TestUser) => (await user.get('/api/auth/profile')).body.avatar_url

describe('POST /api/auth/avatar: accepts', () => {
  test.each(['png', 'jpeg', 'webp'] as const)(
    'a %s and returns the URL of a WebP of 512 × 512',
    async (format) => {
      const user = await world.newUser()
      const url = await accepted(user, await blank(700, 300).toFormat(format).toBuffer())
      expect(url).toMatch(new RegExp(`^${world.baseUrl}/media/avatars/[\\w-]{32}\\.webp$`))
      expect(await profileUrl(user)).toBe(url)

      const image = sharp(await fetched(url))
      expect(await image.metadata()).toMatchObject({ format: 'webp', width: 512, height: 512 })
      const { dominant } = await image.stats()
      expect(Math.abs(dominant.r - red.r)).toBeLessThan(20)
    },
  )

  test('an image by its content, regardless of its type and name', async () => {
    const user = await world.newUser()
    const reply = await send(user, form(['avatar', await png(), 'text/html']))
    expect(reply.status).toBe(200)
    expect((await fetch(reply.body.avatar_url)).headers.get('Content-Type')).toBe('image/webp')
  })

  test('an image of exactly 5 MB', async () => {
    const picture = await png()
    const exactly = Buffer.concat([picture, Buffer.alloc(MAX_BYTES - picture.length)])
    expect((await upload(await world.newUser(), exactly)).status).toBe(200)
  })

  test('noise, which does not compress well', async () => {
    const pixels = randomBytes(512 * 512 * 4)
    const picture = await sharp(pixels, { raw: { width: 512, height: 512, channels: 4 } })
      .png()
      .toBuffer()
    const image = await fetched(await accepted(await world.newUser(), picture))
    expect(image.length).toBeLessThanOrEqual(262_144)
    expect(await sharp(image).metadata(), 'half the size').toMatchObject({ width: 256, height: 256 })
  })

  test('a rotated image, and stores it upright without metadata', async () => {
    const wide = sharp({ create: { width: 200, height: 100, channels: 3, background: 'white' } }).composite([
      { input: { create: { width: 100, height: 100, channels: 3, background: red } }, left: 0, top: 0 },
    ])
    const photo = await wide
      .jpeg()
      .withExif({
        IFD0: { Artist: 'Secret Person' },
        IFD3: { GPSLatitude: '52/1 31/1 0/1', GPSLatitudeRef: 'N' },
      })
      .withMetadata({ orientation: 6 })
      .toBuffer()
    const before = await sharp(photo).metadata()
    expect(before.exif?.toString('latin1')).toContain('Secret Person')
    expect(before.orientation).toBe(6)

    const image = await fetched(await accepted(await world.newUser(), photo))
    const after = await sharp(image).metadata()
    for (const kind of ['exif', 'xmp', 'iptc', 'icc', 'orientation'] as const) {
      expect(after[kind], kind).toBeUndefined()
    }
    expect(image.includes('Secret')).toBe(false)
    // After a rotation by 90 degrees to the right, the left side is on top.
    const colour = async (top: number) => {
      const spot = await sharp(image).extract({ left: 200, top, width: 100, height: 50 }).toBuffer()
      return (await sharp(spot).stats()).dominant
    }
    expect((await colour(50)).g).toBeLessThan(60)
    expect((await colour(420)).g).toBeGreaterThan(200)
  })

  test('an image with appended data, and removes the data', async () => {
    const user = await world.newUser()
    const polyglot = Buffer.concat([await png(), Buffer.from('<script>alert(1)</script>PK\x03\x04')])
    const image = await fetched(await accepted(user, polyglot))
    expect(image.includes('script')).toBe(false)
    expect(image.subarray(8, 12).toString()).toBe('WEBP')
  })

  test('a new image, which replaces the old one; the old URL returns 404', async () => {
    const user = await world.newUser()
    const first = await accepted(user, await png())
    const second = await accepted(user, await png())
    expect(second).not.toBe(first)
    expect((await fetch(second)).status).toBe(200)
    expect(await profileUrl(user)).toBe(second)
    const missing = await fetch(first)
    expect(missing.status).toBe(404)
    expect(await missing.json()).toEqual({ error: 'Avatar not found' })
    expect(missing.headers.get('Cache-Control') ?? '').not.toContain('immutable')
  })

  test('concurrent uploads, and stores one image', async () => {
    const user = await world.newUser()
    const pictures = await Promise.all(Array.from({ length: 2 }, () => png()))
    const urls = await Promise.all(pictures.map((picture) => accepted(user, picture)))
    expect(await stored(user)).toHaveLength(1)
    expect(urls).toContain(await profileUrl(user))
  })

  test('an image that the identity provider’s picture does not replace', async () => {
    const user = await world.newUser()
    await world.platform.identity.users.refresh(user.id, {
      issuer: 'x',
      subject: 'x',
      emailVerified: true,
      picture: 'https://idp.example/one.png',
    })
    expect(await profileUrl(user)).toBe('https://idp.example/one.png')
    const url = await accepted(user, await png())
    const synced = await world.platform.identity.users.refresh(user.id, {
      issuer: 'x',
      subject: 'x',
      emailVerified: true,
      picture: 'https://idp.example/two.png',
    })
    expect(synced.avatar_url).toBe('https://idp.example/two.png')
    expect(await profileUrl(user)).toBe(url)
    expect((await user.post('/api/auth/sync')).body.avatar_url).toBe(url)
  })
})

/** Returns a black PNG with this size in its header, and possibly fewer rows. */
function pngOfSize(width: number, height: number, rows = height): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const whole = Buffer.alloc(body.length + 8)
    whole.writeUInt32BE(data.length, 0)
    body.copy(whole, 4)
    whole.writeUInt32BE(crc32(body), body.length + 4)
    return whole
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([1, 0, 0, 0, 0], 8) // one bit, grey
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * rows), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
function crc32(data: Buffer): number {
  let crc = 0xffffffff
  for (const byte of data) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}

describe('POST /api/auth/avatar: rejects', () => {
  let user: TestUser
  let before: string
  beforeAll(async () => {
    user = await world.newUser()
    before = await accepted(user, await png())
  })
  const refused = async (reply: ReturnType<typeof send>, status: number, expectedError: string) => {
    expect(await reply).toMatchObject({ status, body: { error: expect.stringContaining(expectedError) } })
    expect(await profileUrl(user)).toBe(before)
  }

  test.each([
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script/></svg>', 'image/svg+xml'],
    [
      'SVG as PNG',
      '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
      'image/png',
    ],
    ['GIF', Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'), 'image/png'],
    ['a GIF that is also HTML', 'GIF89a/*<svg/onload=alert(1)>*/=1;', 'image/jpeg'],
    ['text', 'hello', 'image/png'],
    ['nothing', '', 'image/png'],
    ['a PDF', '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', 'image/jpeg'],
  ])('%s: 415', async (_what, content, type) => {
    await refused(send(user, form(['avatar', content, type])), 415, 'must be a PNG, JPEG or WebP image')
  })

  test('TIFF and AVIF, which the image library supports: 415', async () => {
    const others = await Promise.all([blank().tiff().toBuffer(), blank().avif().toBuffer()])
    for (const other of others) await refused(upload(user, other), 415, 'must be a PNG, JPEG or WebP image')
  })

  test('a small file of 2,500 megapixels: 413, without decoding it', async () => {
    const bomb = pngOfSize(50_000, 50_000, 1_000)
    const cpuMs = await cpuMsOf(() => refused(upload(user, bomb), 413, '40 megapixels'))
    expect(cpuMs).toBeLessThan(2_000)
  })

  test('an image slightly above 40 megapixels: 413; accepts one slightly below', async () => {
    await refused(upload(user, pngOfSize(8_000, 5_001)), 413, '40 megapixels')
    expect((await upload(await world.newUser(), pngOfSize(8_000, 5_000))).status).toBe(200)
  })

  test.each(['png', 'jpeg', 'webp'] as const)('a truncated %s: 400', async (format) => {
    const whole = await blank(600, 600)
      .composite([
        {
          input: {
            create: {
              width: 600,
              height: 600,
              channels: 3,
              background: red,
              noise: { type: 'gaussian', mean: 128, sigma: 40 },
            },
          },
        },
      ])
      .toFormat(format)
      .toBuffer()
    await refused(upload(user, whole.subarray(0, whole.length * 0.6)), 400, 'damaged')
  })

  test('5 MB and one byte: 413', async () => {
    await refused(upload(user, Buffer.alloc(MAX_BYTES + 1)), 413, '5 MB')
    const more = upload(user, Buffer.alloc(1.5 * MAX_BYTES))
    await refused(more, 413, '5 MB')
    expect((await more).headers.get('Connection'), 'the connection is reusable').toBe('keep-alive')
  })

  test('much more than 5 MB: 413, and closes the connection', async () => {
    const outcome = send(user, form(['avatar', Buffer.alloc(4 * MAX_BYTES)]))
    // A client that continues to send may see the connection close before the response.
    const reply = await outcome.catch(() => undefined)
    if (reply) {
      expect(reply).toMatchObject({ status: 413, body: { error: expect.stringContaining('5 MB') } })
      expect(reply.headers.get('Connection')).toBe('close')
    }
    expect(await profileUrl(user)).toBe(before)
  })

  test('another field, a second file, a second part: 400 with the field name', async () => {
    const picture = await png()
    const withText = form(['avatar', picture])
    withText.append('note', 'hello')
    const bodies = [
      form(['picture', picture]),
      form(['avatar', picture], ['avatar', picture]),
      form(['avatar', picture], ['other', picture]),
      withText,
      new FormData(),
    ]
    for (const body of bodies) await refused(send(user, body), 400, 'must be one file, and the only field')
    const written = new FormData()
    written.append('avatar', 'hello')
    await refused(send(user, written), 400, 'must be one file, and the only field')
  })

  test('a body that is not a multipart form: 415', async () => {
    const picture = Uint8Array.from(await png())
    await refused(send(user, picture, { 'Content-Type': 'image/png' }), 415, 'multipart/form-data')
    await refused(send(user, '{}', { 'Content-Type': 'application/json' }), 415, 'multipart/form-data')
    await refused(send(user, undefined), 415, 'multipart/form-data')
  })

  test.each([
    ['no boundary', 'multipart/form-data', 'hello'],
    ['a body without any part', 'multipart/form-data; boundary=x', 'hello'],
    ['an empty body', 'multipart/form-data; boundary=x', ''],
    [
      'a part that never ends',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="avatar"; filename="a.png"\r\n\r\nabc',
    ],
    [
      'a part without a name',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; filename="a.png"\r\n\r\nabc\r\n--x--\r\n',
    ],
    ['a part without a header', 'multipart/form-data; boundary=x', '--x\r\n\r\nabc\r\n--x--\r\n'],
  ])('%s: 400', async (_what, type, body) => {
    await refused(send(user, body, { 'Content-Type': type }), 400, '')
  })

  test('API keys: 403', async () => {
    const { key } = await user.key()
    await refused(
      send(user, form(['avatar', await png()]), { Authorization: `Bearer ${key}` }),
      403,
      'session',
    )
  })
})

describe('concurrent uploads', () => {
  /** Starts an upload and does not finish it. */
  function begun(user: TestUser) {
    const sending = request(world.baseUrl + AVATAR, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${user.token}`,
        'Content-Type': 'multipart/form-data; boundary=x',
        'Content-Length': 1_000_000,
      },
    })
    sending.on('error', () => {})
    sending.write('--x\r\nContent-Disposition: form-data; name="avatar"; filename="a.png"\r\n\r\nabc')
    return sending
  }

  /** Sends more of the uploads, fast enough to keep their slots, until the test ends. */
  function keepSending(pending: ReadonlySet<ReturnType<typeof begun>>) {
    let left = 200 // fewer bytes than their length
    const timer = setInterval(() => {
      if (left-- <= 0) return
      for (const sending of pending) if (!sending.destroyed) sending.write('x'.repeat(4_096))
    }, 100)
    onTestFinished(() => clearInterval(timer))
  }

  /** Starts uploads that last, and returns the statuses of the first `refused` responses. */
  async function lasting(testUsers: readonly TestUser[], refused: number) {
    const pending = testUsers.map(begun)
    const unanswered = new Set(pending)
    const statuses: number[] = []
    for (const sending of pending)
      sending.once('response', (reply: IncomingMessage) => {
        unanswered.delete(sending)
        statuses.push(reply.statusCode as number)
      })
    keepSending(unanswered)
    await waitFor(() => expect(statuses.length).toBeGreaterThanOrEqual(refused))
    return { pending, statuses }
  }

  test('of one user: more than two get 429, others continue; a disconnect frees a slot and stores nothing', async () => {
    const user = await world.newUser()
    const picture = await png()
    const { pending, statuses } = await lasting(Array<TestUser>(40).fill(user), 38)
    expect(statuses.slice(0, 38)).toEqual(Array(38).fill(429))
    const reply = await upload(user, picture)
    expect(reply).toMatchObject({ status: 429, body: { error: expect.stringContaining('images') } })
    expect(reply.headers.get('Retry-After')).toBe('1')
    expect(await upload(await world.newUser(), picture)).toMatchObject({ status: 200 })

    expect(await profileUrl(user)).toBeNull()
    for (const sending of pending) sending.destroy()
    await waitFor(async () => expect((await upload(user, picture)).status).toBe(200))
    expect(await stored(user)).toHaveLength(1)
  })

  test('of all users: more than sixteen get 503 with Retry-After', async () => {
    const testUsers = await Promise.all(Array.from({ length: 10 }, () => world.newUser()))
    const { pending, statuses } = await lasting([...testUsers, ...testUsers], 4)
    expect(statuses.slice(0, 4)).toEqual([503, 503, 503, 503])
    const reply = await upload(await world.newUser(), await png())
    expect(reply).toMatchObject({ status: 503, body: { error: expect.any(String) } })
    expect(reply.headers.get('Retry-After')).toBe('1')
    for (const sending of pending) sending.destroy()
    world.errors.length = 0 // the test expects the logged 503 errors
  })

  test('that stall or are too slow end with 408 and free their slots', async () => {
    const [halted, dripping] = [await world.newUser(), await world.newUser()]
    const pending = [begun(halted), begun(halted)]
    const slow = begun(dripping)
    const drops = setInterval(() => slow.write('x'), 100)
    const ends = [...pending, slow].map(
      (sending) => new Promise((resolve) => sending.once('response', (reply) => resolve(reply.statusCode))),
    )
    expect(await Promise.all(ends)).toEqual([408, 408, 408])
    clearInterval(drops)
    for (const sending of [...pending, slow]) sending.destroy()
    expect(await upload(halted, await png())).toMatchObject({ status: 200 })
  })
})

describe('GET /media/avatars/{name}.webp', () => {
  let url: string
  beforeAll(async () => {
    url = await accepted(await world.newUser(), await png())
  })

  test('returns the image with headers that allow caching and forbid scripts', async () => {
    const response = await fetch(url)
    const length = (await response.arrayBuffer()).byteLength
    expect(response.status).toBe(200)
    const header = (name: string) => response.headers.get(name)
    expect(header('Content-Type')).toBe('image/webp')
    expect(header('Content-Length')).toBe(String(length))
    expect(header('Cache-Control')).toBe('public, max-age=31536000, immutable')
    expect(header('X-Content-Type-Options')).toBe('nosniff')
    expect(header('Content-Security-Policy')).toBe("default-src 'none'; sandbox")
    expect(header('Cross-Origin-Resource-Policy')).toBe('cross-origin')
    expect(header('ETag')).toMatch(/^"[\w-]{32}"$/)

    // fetch adds no-cache headers to conditional requests, so this uses http.
    const sent = request(url, { headers: { 'If-None-Match': header('ETag') as string } }).end()
    const [again] = (await once(sent, 'response')) as [IncomingMessage]
    expect(again.statusCode).toBe(304)
    expect(again.headers['cache-control']).toBe(header('Cache-Control'))
    expect(await text(again)).toBe('')

    const head = await fetch(url, { method: 'HEAD' })
    expect(head.status).toBe(200)
    expect(head.headers.get('Content-Length')).toBe(String(length))
    expect(head.headers.get('Content-Type')).toBe('image/webp')
  })

  test.each([
    ['an unknown name', 'A'.repeat(32)],
    ['a short name', 'abc'],
    ['NUL', '%00'.repeat(32)],
    ['a path traversal', '..%2f..%2fetc%2fpasswd'],
  ])('returns 404 for %s', async (_what, name) => {
    const response = await fetch(`${world.baseUrl}/media/avatars/${name}.webp`)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ error: expect.stringContaining('not found') })
  })

  test('returns 404 for another extension and 405 for another method', async () => {
    for (const ending of ['', '.png', '.webp/x']) {
      expect((await fetch(url.replace('.webp', ending))).status, ending).toBe(404)
    }
    const response = await fetch(url, { method: 'DELETE' })
    expect(response.status).toBe(405)
    expect(response.headers.get('Allow')).toContain('GET')
  })
})
