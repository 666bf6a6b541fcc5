import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AudioPeer } from '../../support/video/audio-peer.ts'
import type { TestViewer } from '../../support/video/test-viewer.ts'
import { openVideoFixture, type VideoFixture, withMedia } from '../../support/video/video-fixture.ts'
import { performAction } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SDP = { 'Content-Type': 'application/sdp' }

let world: World
/** A session with a live camera, for the tests that end neither. */
let fixture: VideoFixture
beforeAll(async () => {
  world = await createWorld({ env: withMedia })
  fixture = await openVideoFixture(world)
  await fixture.isLive()
})
afterEach(() => fixture.closeViewers())
afterAll(async () => {
  await fixture[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** Waits until nothing arrives at a viewer; the camera sends a frame every 30 ms. */
const ends = (viewer: TestViewer) => waitFor(() => expect(viewer.silentMs).toBeGreaterThan(500))

async function post(url: string, headers: Record<string, string>, body: string) {
  const response = await fetch(url, { method: 'POST', headers, body })
  return {
    status: response.status,
    code: response.headers.get('Wheelhouse-Error'),
    location: response.headers.get('Location'),
    text: await response.text(),
  }
}

describe('a viewer', () => {
  test('needs a valid ticket of the session', async () => {
    const offer = await fixture.viewer().offer()
    expect(await post(fixture.url, SDP, offer)).toMatchObject({ status: 401, code: 'ticket_invalid' })
    const token = await fixture.ticketOf(fixture.operator, 'control')
    const other = fixture.url.replace(fixture.sessionId, crypto.randomUUID())
    expect(await post(other, { ...SDP, Authorization: `Bearer ${token}` }, offer)).toMatchObject({
      status: 403,
      code: 'ticket_mismatch',
    })
  })

  test('receives every frame from a keyframe on, in order, also one that joins later', async () => {
    for (const viewer of [await fixture.watch(), await fixture.watch(fixture.owner, 'watch')]) {
      const [first] = viewer.packets
      expect(first?.payload[0], 'the beginning of a frame').toBe(0x10)
      expect((first?.payload[1] as number) & 1, 'a keyframe').toBe(0)
      const numbers = viewer.packets
        .filter(({ header }) => header.marker)
        .map(({ payload }) => payload.readUInt32BE(payload.length - 4))
      expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] as number) + index))
    }
  })

  test('loses the picture when the session ends', async () => {
    await using fixture = await openVideoFixture(world)
    await fixture.isLive()
    const viewer = await fixture.watch()
    await performAction(fixture.operator, fixture.sessionId, 'end')
    await ends(viewer)
    const response = await fixture.viewer().watch({ url: fixture.url, token: 'x' })
    expect(response.status).toBe(401)
  })

  test('loses the picture when its API key is revoked', async () => {
    const key = (await fixture.operator.post('/api/auth/api-keys', { name: 'viewer' })).body
    const headers = { Authorization: `Bearer ${key.key}`, 'Content-Type': 'application/json' }
    const issued = await fetch(`${world.baseUrl}/api/sessions/${fixture.sessionId}/ticket`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ part: 'watch' }),
    })
    const { ticket } = (await issued.json()) as { ticket: string }
    const viewer = fixture.viewer()
    expect((await viewer.watch({ url: fixture.url, token: ticket })).status, viewer.answer).toBe(201)
    await waitFor(() => expect(viewer.packets.length).toBeGreaterThan(0))
    expect((await fixture.operator.delete(`/api/auth/api-keys/${key.id}`)).status).toBe(204)
    await ends(viewer)
  })

  test('can be ended at its address only', async () => {
    const viewer = await fixture.watch()
    const resource = new URL(viewer.response.headers.get('Location') as string, world.baseUrl)
    const wrong = new URL(resource)
    wrong.pathname = wrong.pathname.replace(/[0-9a-f]$/, (digit) => (digit === '0' ? '1' : '0'))
    expect((await fetch(wrong, { method: 'DELETE' })).status).toBe(404)
    const malformed = resource.href.replace(/[^/]+$/, `${'-'.repeat(36)}.${'-'.repeat(36)}`)
    expect((await fetch(malformed, { method: 'DELETE' })).status).toBe(400)
    expect((await fetch(resource, { method: 'DELETE' })).status).toBe(200)
    await ends(viewer)
    await waitFor(async () => expect((await fetch(resource, { method: 'DELETE' })).status).toBe(404))
  })

  test('can be the owner, also without a session, and no other client', async () => {
    const url = `${world.baseUrl}/api/client/robots/${fixture.robot.id}/whep/front`
    const viewer = fixture.viewer()
    expect((await viewer.watch({ url, token: fixture.owner.token })).status, viewer.answer).toBe(201)
    await waitFor(() => expect(viewer.packets.length).toBeGreaterThan(0))
    const stranger = await world.client()
    expect((await fixture.viewer().watch({ url, token: stranger.token })).status).toBe(404)
  })
})

describe('a publisher', () => {
  const whip = () => `${world.baseUrl}/api/robots/${fixture.robot.id}/whip/front`

  test('needs the token of its robot', async () => {
    const offer = await fixture.viewer().offer()
    expect(await post(whip(), SDP, offer)).toMatchObject({ status: 401, code: 'robot_token_invalid' })
    const other = await world.robot(fixture.owner)
    expect(await post(whip(), { ...SDP, Authorization: `Bearer ${other.token}` }, offer)).toMatchObject({
      status: 403,
      code: 'robot_token_mismatch',
    })
  })

  test('ends when the token is replaced', async () => {
    await using fixture = await openVideoFixture(world)
    await fixture.isLive()
    const viewer = await fixture.watch()
    expect((await fixture.owner.post(`/api/client/robots/${fixture.robot.id}/token`)).status).toBe(201)
    await waitFor(async () => expect((await fixture.listOf(fixture.operator))[0]?.live).toBe(false))
    const count = viewer.packets.length
    await waitFor(() => expect(fixture.camera.errors.join()).toContain('401'))
    expect(viewer.packets.length).toBe(count)
  })

  test('cannot use a name that is reserved or malformed', async () => {
    const offer = await fixture.viewer().offer()
    const headers = { ...SDP, Authorization: `Bearer ${fixture.robot.token}` }
    for (const name of ['stream-url', 'Front', '-front', 'a'.repeat(33)])
      expect(await post(whip().replace(/front$/, name), headers, offer)).toMatchObject({ status: 400 })
  })

  test('cannot publish more than eight cameras, of which refused offers and ended ones do not count', async () => {
    const { id, token } = await world.robot(fixture.owner)
    const headers = { ...SDP, Authorization: `Bearer ${token}` }
    const publish = (camera: string, body: string) =>
      post(`${world.baseUrl}/api/robots/${id}/whip/${camera}`, headers, body)
    // With a changed direction, the offer of a viewer is one of a publisher that does not connect.
    const offer = (await fixture.viewer().offer()).replace('a=recvonly', 'a=sendonly')
    for (let number = 1; number <= 9; number++)
      expect(await publish(`refused${number}`, 'v=0')).toMatchObject({ status: 400, code: 'offer_rejected' })
    let location = ''
    for (let number = 1; number <= 8; number++) {
      const accepted = await publish(`front${number}`, offer)
      expect(accepted.status, accepted.text).toBe(201)
      location = accepted.location as string
    }
    const full = { status: 409, code: 'camera_limit_reached' }
    expect(await publish('front9', offer)).toMatchObject(full)
    expect((await fetch(`${world.baseUrl}${location}`, { method: 'DELETE', headers })).status).toBe(200)
    expect(await publish('front9', offer)).toMatchObject({ status: 201 })
  })

  test('gets 409 for an offer that its own newer one replaces', async () => {
    const { id, token } = await world.robot(fixture.owner)
    const offer = (await fixture.viewer().offer()).replace('a=recvonly', 'a=sendonly')
    const publish = () =>
      post(
        `${world.baseUrl}/api/robots/${id}/whip/front`,
        { ...SDP, Authorization: `Bearer ${token}` },
        offer,
      )
    const replies = await Promise.all(Array.from({ length: 6 }, publish))
    for (const { status, code } of replies)
      if (status !== 201) expect([status, code]).toEqual([409, 'offer_replaced'])
    expect(replies.some(({ status }) => status === 201)).toBe(true)
  })
})

describe('an offer', () => {
  const publish = (body: string, type = 'application/sdp') =>
    post(
      `${world.baseUrl}/api/robots/${fixture.robot.id}/whip/front`,
      { 'Content-Type': type, Authorization: `Bearer ${fixture.robot.token}` },
      body,
    )

  // `offer.test.ts` beside the reader of offers has the others.
  test.each([
    ['no session description', 'hello'],
    ['a thousand media lines', `v=0\r\n${'m=video 9 UDP/TLS/RTP/SAVPF 96\r\n'.repeat(1_000)}`],
  ])('with %s is rejected', async (_what, body) => {
    expect(await publish(body)).toMatchObject({ status: 400, code: 'offer_rejected' })
  })

  test.each(['text/plain', 'application/json'])('of the media type %s is rejected', async (type) => {
    expect(await publish('v=0', type)).toMatchObject({ status: 415 })
  })

  test('has its media type in the answer to OPTIONS', async () => {
    const url = `${world.baseUrl}/api/robots/${fixture.robot.id}/whip/front`
    const response = await fetch(url, { method: 'OPTIONS' })
    expect(response.status).toBe(204)
    expect(response.headers.get('Accept-Post')).toBe('application/sdp')
  })

  test('that is too large is rejected', async () => {
    expect(await publish(`v=0\r\n${'a=x\r\n'.repeat(20_000)}`)).toMatchObject({ status: 413 })
  })

  test('with 2,000 candidates is accepted without using them', async () => {
    const candidate = 'a=candidate:1 1 UDP 2122317823 192.0.2.1 9 typ host\r\n'
    const viewer = fixture.viewer()
    const edit = (sdp: string) => sdp + candidate.repeat(1_000)
    const token = await fixture.ticketOf(fixture.operator, 'control')
    expect((await viewer.watch({ url: fixture.url, token, edit })).status, viewer.answer).toBe(201)
    await waitFor(() => expect(viewer.packets.length).toBeGreaterThan(0))
  })
})

describe('candidates', () => {
  const patch = async (
    url: URL,
    headers: Record<string, string>,
    body = 'a=candidate:1 1 UDP 1 192.0.2.1 9 typ host',
  ) =>
    await fetch(url, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/trickle-ice-sdpfrag', ...headers },
      body,
    })

  test('are accepted for the resource and its ETag only', async () => {
    const viewer = await fixture.watch()
    const url = new URL(viewer.response.headers.get('Location') as string, world.baseUrl)
    const etag = viewer.response.headers.get('ETag') as string
    expect((await patch(url, { 'If-Match': etag })).status).toBe(204)
    expect((await patch(url, {})).status).toBe(428)
    expect((await patch(url, { 'If-Match': '"other"' })).status).toBe(412)
    expect((await patch(url, { 'If-Match': '*' })).status).toBe(422)
    const many = 'a=candidate:1 1 UDP 2122317823 192.0.2.1 9 typ host\r\n'.repeat(10_000)
    expect((await patch(url, { 'If-Match': etag }, many)).status).toBe(413)
    expect(viewer.state).toBe('connected')
  })
})

test('viewers hear the robot, and the robot hears its operator only', async () => {
  await using fixture = await openVideoFixture(world)
  await fixture.camera.stop()
  const robot = new AudioPeer({ sound: 'motor', sendsVideo: true, payloadType: 98 })
  const [operator, owner] = ['voice of the operator', 'voice of the owner'].map(
    (sound) => new AudioPeer({ sound, sendsVideo: false, payloadType: 111 }),
  ) as [AudioPeer, AudioPeer]
  try {
    await robot.connect(`${world.baseUrl}/api/robots/${fixture.robot.id}/whip/front`, fixture.robot.token)
    await waitFor(async () => {
      const [camera] = await fixture.listOf(fixture.operator)
      expect(camera).toMatchObject({ live: true, audio: true })
    })
    await owner.connect(fixture.url, await fixture.ticketOf(fixture.owner, 'watch'))
    await waitFor(() => expect(owner.received).toEqual(new Set(['motor'])))
    await operator.connect(fixture.url, await fixture.ticketOf(fixture.operator, 'control'))
    await waitFor(() => expect(operator.received).toEqual(new Set(['motor'])))
    await waitFor(() => expect(robot.received).toEqual(new Set(['voice of the operator'])))
  } finally {
    for (const peer of [robot, operator, owner]) peer.close()
  }
})
