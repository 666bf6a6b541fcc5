import { rtp } from '@wheelhouse/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createUdpProxy } from '../../support/network/udp-proxy.ts'
import type { TestViewer } from '../../support/video/test-viewer.ts'
import {
  openVideoFixture,
  runCamera,
  type VideoFixture,
  withMedia,
} from '../../support/video/video-fixture.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let fixture: VideoFixture
beforeAll(async () => {
  world = await createWorld({ env: withMedia })
})
beforeEach(async () => {
  fixture = await openVideoFixture(world)
  await fixture.isLive()
})
afterEach(() => fixture[Symbol.asyncDispose]())
afterAll(() => world[Symbol.asyncDispose]())

/** Returns the numbers of the complete frames that a viewer received. */
function frameNumbers({ packets }: TestViewer): number[] {
  return packets
    .filter(({ header }) => header.marker)
    .map(({ payload }) => payload.readUInt32BE(payload.length - 4))
}

test('a viewer receives every frame from a keyframe on, in order', async () => {
  const viewer = await fixture.watch()
  await waitFor(() => expect(frameNumbers(viewer).length).toBeGreaterThan(20))
  const [first] = viewer.packets
  expect(first?.payload[0]).toBe(0x10) // the beginning of a frame
  expect((first?.payload[1] as number) & 1, 'a keyframe').toBe(0)
  const numbers = frameNumbers(viewer)
  expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] as number) + index))
  const sequence = viewer.packets.map(({ header }) => header.sequenceNumber)
  expect(sequence).toEqual(sequence.map((_, index) => ((sequence[0] as number) + index) & 0xffff))
})

test('a viewer who joins later begins with a keyframe that was requested for it', async () => {
  await fixture.watch()
  const before = fixture.camera.keyframes
  const second = await fixture.watch(fixture.owner, 'watch')
  expect((second.packets[0]?.payload[1] as number) & 1).toBe(0)
  expect(fixture.camera.keyframes).toBeGreaterThan(before)
})

test('a packet that was lost on its way to the viewer is sent again when the viewer asks for it', async () => {
  const viewer = fixture.viewer()
  let videoPackets = 0
  let port = 0
  const isVideo = (datagram: Buffer) => datagram.length > 1_000 && ((datagram[0] as number) & 0xc0) === 0x80
  const token = await fixture.ticketOf(fixture.operator, 'control')
  const answer = await viewer.request({ url: fixture.url, token })
  port = Number(/a=candidate:.* 127\.0\.0\.1 (\d+) typ host/.exec(answer)?.[1])
  await using proxy = await createUdpProxy(port, (datagram) => isVideo(datagram) && ++videoPackets === 20)
  viewer.accept(answer.replaceAll(` 127.0.0.1 ${port} `, ` 127.0.0.1 ${proxy.port} `))
  const missing = await waitFor(() => {
    const sequence = viewer.packets.map(({ header }) => header.sequenceNumber)
    const gap = sequence.findIndex(
      (number, index) => index > 0 && number !== (((sequence[index - 1] as number) + 1) & 0xffff),
    )
    expect(gap).toBeGreaterThan(0)
    return {
      ssrc: viewer.packets[0]?.header.ssrc as number,
      number: ((sequence[gap] as number) - 1) & 0xffff,
    }
  })
  const arrived = () => viewer.packets.some(({ header }) => header.sequenceNumber === missing.number)
  expect(arrived()).toBe(false)
  viewer.send(rtp.nack(1, missing.ssrc, [missing.number]))
  await waitFor(() => expect(arrived()).toBe(true))
})

test('viewers know the capture time of the frames by the clock of the platform', async () => {
  const viewer = await fixture.watch()
  await waitFor(() => expect(viewer.messages.some(({ type }) => type === 'sender_report')).toBe(true))
  const report = viewer.messages.find((message) => message.type === 'sender_report')
  if (report?.type !== 'sender_report') throw new Error('no sender report')
  const frame = viewer.packets.at(-1)?.header as rtp.RtpHeader
  const captureMs =
    rtp.unixMsOf(report.ntp) + rtp.timestampDistance(report.rtpTimestamp, frame.timestamp) / 90
  expect(Math.abs(Date.now() - captureMs)).toBeLessThan(10_000)
})

test('a viewer that asks for its clock back can measure the round trip', async () => {
  const viewer = await fixture.watch()
  viewer.send(rtp.referenceTime(7, rtp.ntpOf(Date.now())))
  await waitFor(() => expect(viewer.messages.some(({ type }) => type === 'reference_time_echo')).toBe(true))
})

test('the robot learns the bitrate that it may use, and that of a slow operator is lower', async () => {
  const newest = () => fixture.camera.bitrates.at(-1)
  await waitFor(() => expect(newest(), 'while no client watches').toBe(300_000))
  const viewer = await fixture.watch()
  await waitFor(() => expect(newest()).toBeGreaterThan(1_000_000))
  expect(fixture.camera.watched).toEqual([false, true])
  const ssrc = viewer.packets[0]?.header.ssrc as number
  await waitFor(() => {
    viewer.send(rtp.bitrateLimit(1, ssrc, 120_000))
    expect(newest()).toBeLessThanOrEqual(120_000)
  })
})

test('a viewer continues when the robot publishes again', async () => {
  const viewer = await fixture.watch()
  await fixture.camera.stop()
  await waitFor(async () => expect((await fixture.listOf(fixture.operator))[0]?.live).toBe(false))
  const before = viewer.packets.length

  const again = runCamera(fixture.link)
  try {
    await waitFor(() => expect(viewer.packets.length).toBeGreaterThan(before + 10))
    const [last, next] = viewer.packets.slice(before - 1, before + 1)
    expect(next?.header.sequenceNumber).toBe(((last?.header.sequenceNumber as number) + 1) & 0xffff)
    expect(
      rtp.timestampDistance(last?.header.timestamp as number, next?.header.timestamp as number),
    ).toBeGreaterThan(0)
    expect(next?.header.ssrc).toBe(last?.header.ssrc)
  } finally {
    await again.stop()
  }
})

test('a list shows how a camera is doing, and its order and labels can change', async () => {
  const { owner, robot, link } = fixture

  const rear = runCamera(link, { name: 'rear' })
  try {
    const path = `/api/client/robots/${robot.id}/cameras`
    await waitFor(async () => {
      const { cameras } = (await owner.get(path)).body
      expect(cameras.map(({ name, live }: { name: string; live: boolean }) => ({ name, live }))).toEqual([
        { name: 'front', live: true },
        { name: 'rear', live: true },
      ])
      expect(cameras[0]).toMatchObject({ codec: 'VP8', audio: false, source: 'webrtc', label: null })
      expect(cameras[0].bits_per_second).toBeGreaterThan(100_000)
      expect(cameras[0].frames_per_second).toBeGreaterThan(1)
    })
    const changed = await owner.patch(`${path}/rear`, { position: 0, label: 'Gripper' })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    expect(
      changed.body.cameras.map(({ name, label }: { name: string; label: string }) => [name, label]),
    ).toEqual([
      ['rear', 'Gripper'],
      ['front', null],
    ])
    expect((await owner.delete(`${path}/rear`)).status).toBe(409)
  } finally {
    await rear.stop()
  }
  await waitFor(async () =>
    expect((await owner.delete(`/api/client/robots/${robot.id}/cameras/rear`)).status).toBe(204),
  )
})

test('H.264 without parameter sets is refused to viewers with the reason', async () => {
  await fixture.camera.stop()
  const camera = fixture.link.publishCamera({ name: 'bare', codec: 'H264' })
  const keyframe = Buffer.concat([Buffer.from([0, 0, 0, 1, 0x65]), Buffer.alloc(200, 0x55)])
  const timer = setInterval(() => camera.send(keyframe, Date.now()), 30)
  try {
    const token = await fixture.ticketOf(fixture.operator, 'control')
    await waitFor(async () => {
      const response = await fixture.viewer().watch({ url: fixture.url.replace('front', 'bare'), token })
      expect(response.headers.get('Wheelhouse-Error')).toBe('camera_undecodable')
      expect(response.status).toBe(409)
    })
  } finally {
    clearInterval(timer)
    await camera.close()
  }
})
