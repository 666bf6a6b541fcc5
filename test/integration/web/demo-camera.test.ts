import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { Camera, MAX_VIEWERS, STREAM_TYPE } from '../../../tools/demo/camera/camera.ts'
import { openMjpegStream } from '../../support/network/mjpeg-client.ts'

const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A camera behind a real server; `made` counts its pictures. */
async function createFixture({ bytes = 1_000, blockedMs = 60_000 } = {}) {
  const fixture = { made: 0, responses: [] as ServerResponse[], faults: [] as unknown[] }
  const camera = new Camera({
    picture: async () => {
      fixture.made += 1
      return Buffer.alloc(bytes, fixture.made)
    },
    report: (cause) => fixture.faults.push(cause),
    blockedMs,
  })
  const server = createServer((_request, response) => {
    fixture.responses.push(response)
    response.writeHead(200, { 'Content-Type': STREAM_TYPE, Connection: 'close' })
    camera.streamTo(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(async () => {
    await camera.close()
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const openViewer = async () => {
    const viewer = await openMjpegStream(url)
    cleanups.push(viewer.leave)
    return viewer
  }
  /** A viewer that reads the head of the answer and nothing else. */
  const stare = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const request = get(url, (response) => {
        response.on('error', () => {})
        resolve(response)
      })
      request.on('error', reject)
      cleanups.push(() => request.destroy())
    })
  return { stage: fixture, camera, look: openViewer, stare }
}
const frames = (viewer: { frames: Buffer[] }, count: number) =>
  vi.waitFor(() => expect(viewer.frames.length).toBeGreaterThanOrEqual(count), 10_000)

test('two who look get the same pictures, each made once; nobody looks, and none is made', async () => {
  const { stage: fixture, camera, look: openViewer } = await createFixture()
  const [first, two] = [await openViewer(), await openViewer()]
  await Promise.all([frames(first, 5), frames(two, 5)])
  const numbers = (viewer: { frames: Buffer[] }) => viewer.frames.map((frame) => frame[0])
  const seen = numbers(first)
  expect(new Set(seen).size, 'no picture comes twice').toBe(seen.length)
  expect(numbers(two).every((number) => (number as number) <= fixture.made)).toBe(true)
  expect(fixture.made).toBeLessThan(first.frames.length + two.frames.length)

  await Promise.all([first.leave(), two.leave()])
  await vi.waitFor(() => expect(camera.viewers).toBe(0), 10_000)
  const made = fixture.made
  const secondOffer = await createFixture()
  const clock = await secondOffer.look()
  await frames(clock, 5) // five frames later, by another camera's clock
  expect(fixture.made).toBe(made)
  await frames(await openViewer(), 2)
  expect(fixture.made, 'it begins again').toBeGreaterThan(made)
})

test('a still is shared by all who ask at once, and is no older than a frame', async () => {
  const { stage: fixture, camera } = await createFixture()
  const all = await Promise.all([camera.snapshot(), camera.snapshot(), camera.snapshot()])
  expect(fixture.made).toBe(1)
  expect(new Set(all).size).toBe(1)
  await vi.waitFor(async () => expect((await camera.snapshot())[0]).toBe(2), 10_000)
})

test('who does not read holds up nobody, keeps one frame in memory, and is cut off in the end', async () => {
  const bytes = 2_000_000 // soon more than the system takes for a connection
  const { stage: fixture, camera, look: openViewer, stare } = await createFixture({ bytes, blockedMs: 1_000 })
  const blocked = await stare()
  const [response] = fixture.responses as [ServerResponse]
  const reader = await openViewer()
  let most = 0
  const sampling = setInterval(() => {
    most = Math.max(most, response.writableLength)
  }, 20)
  cleanups.push(() => clearInterval(sampling))
  await vi.waitFor(() => expect(most).toBeGreaterThan(0), 10_000)
  await vi.waitFor(() => expect(camera.viewers).toBe(1), 10_000)
  expect(response.destroyed).toBe(true)
  expect(most).toBeLessThan(1.1 * bytes)
  const seen = reader.frames.length
  expect(seen).toBeGreaterThanOrEqual(8)
  await frames(reader, seen + 3)
  blocked.destroy()
})

test('a picture that cannot be made is told of, and the next one comes', async () => {
  let made = 0
  const faults: unknown[] = []
  const camera = new Camera({
    picture: async () => {
      made += 1
      if (made === 2) throw new Error('no paint')
      return Buffer.alloc(10, made)
    },
    report: (cause) => faults.push(cause),
  })
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': STREAM_TYPE, Connection: 'close' })
    camera.streamTo(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const viewer = await openMjpegStream(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await frames(viewer, 2)
  expect(viewer.frames.slice(0, 2).map((frame) => frame[0])).toEqual([1, 3])
  expect(faults).toEqual([new Error('no paint')])
  await camera.close()
  expect(await viewer.ended).toBe('complete')
  await new Promise((done) => server.close(done))
})

test('at its end everybody is sent away with the last boundary, also who does not read, and nobody is let in', async () => {
  const { stage: fixture, camera, look: openViewer, stare } = await createFixture({ bytes: 2_000_000 })
  const reader = await openViewer()
  await stare()
  await vi.waitFor(() => expect(fixture.responses.at(-1)?.writableLength).toBeGreaterThan(0), 10_000)
  expect(camera.isOpen).toBe(true)
  await camera.close()
  expect(camera.isOpen).toBe(false)
  expect(camera.viewers).toBe(0)
  expect(await reader.ended).toBe('complete')
})

test('there is room for so many and no more', async () => {
  const { camera, look: openViewer } = await createFixture()
  const viewers = await Promise.all(Array.from({ length: MAX_VIEWERS }, openViewer))
  await vi.waitFor(() => expect(camera.viewers).toBe(MAX_VIEWERS), 10_000)
  expect(camera.isOpen).toBe(false)
  await viewers[0]?.leave()
  await vi.waitFor(() => expect(camera.isOpen).toBe(true), 10_000)
})
