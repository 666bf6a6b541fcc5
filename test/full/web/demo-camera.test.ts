import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Camera, MAX_VIEWERS, STREAM_TYPE } from '../../../tools/demo/camera/camera.ts'
import { openMjpegStream } from '../../support/network/mjpeg-client.ts'
import { waitFor } from '../../support/world/wait.ts'

const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Serves a camera over HTTP; `made` counts its pictures. */
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
  /** Opens a viewer that reads the head of the response and nothing else. */
  const openBlockedViewer = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const request = get(url, (response) => {
        response.on('error', () => {})
        resolve(response)
      })
      request.on('error', reject)
      cleanups.push(() => request.destroy())
    })
  return { fixture, camera, openViewer, openBlockedViewer }
}
const frames = (viewer: { frames: Buffer[] }, count: number) =>
  waitFor(() => expect(viewer.frames.length).toBeGreaterThanOrEqual(count))

test('two viewers get the same pictures, each made once; without viewers no picture is made', async () => {
  const { fixture, camera, openViewer } = await createFixture()
  const [first, two] = [await openViewer(), await openViewer()]
  await Promise.all([frames(first, 5), frames(two, 5)])
  const numbers = (viewer: { frames: Buffer[] }) => viewer.frames.map((frame) => frame[0])
  const seen = numbers(first)
  expect(new Set(seen).size, 'no picture comes twice').toBe(seen.length)
  expect(numbers(two).every((number) => (number as number) <= fixture.made)).toBe(true)
  expect(fixture.made).toBeLessThan(first.frames.length + two.frames.length)

  await Promise.all([first.leave(), two.leave()])
  await waitFor(() => expect(camera.viewers).toBe(0))
  const made = fixture.made
  const otherFixture = await createFixture()
  const clock = await otherFixture.openViewer()
  await frames(clock, 5) // five frames later, by another camera's clock
  expect(fixture.made).toBe(made)
  await frames(await openViewer(), 2)
  expect(fixture.made, 'the camera starts again').toBeGreaterThan(made)
})

test('concurrent requests share one still picture, which is no older than a frame', async () => {
  const { fixture, camera } = await createFixture()
  const all = await Promise.all([camera.snapshot(), camera.snapshot(), camera.snapshot()])
  expect(fixture.made).toBe(1)
  expect(new Set(all).size).toBe(1)
  await waitFor(async () => expect((await camera.snapshot())[0]).toBe(2))
})

test('a viewer that does not read delays no other viewer, buffers one frame, and is disconnected in the end', async () => {
  const bytes = 2_000_000 // soon more than the socket buffers of a connection
  const { fixture, camera, openViewer, openBlockedViewer } = await createFixture({ bytes, blockedMs: 4_000 })
  const blocked = await openBlockedViewer()
  const [response] = fixture.responses as [ServerResponse]
  const reader = await openViewer()
  let most = 0
  const sampling = setInterval(() => {
    most = Math.max(most, response.writableLength)
  }, 20)
  cleanups.push(() => clearInterval(sampling))
  await waitFor(() => expect(most).toBeGreaterThan(0))
  await waitFor(() => expect(camera.viewers).toBe(1))
  expect(response.destroyed).toBe(true)
  expect(most).toBeLessThan(1.1 * bytes)
  const seen = reader.frames.length
  expect(seen).toBeGreaterThanOrEqual(3) // a viewer that waited for the blocked one would have one
  await frames(reader, seen + 3)
  blocked.destroy()
})

test('a picture that cannot be made is reported, and the next one follows', async () => {
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

test('closing ends every viewer with the last boundary, also one that does not read, and admits no more', async () => {
  const { fixture, camera, openViewer, openBlockedViewer } = await createFixture({ bytes: 2_000_000 })
  const reader = await openViewer()
  await openBlockedViewer()
  await waitFor(() => expect(fixture.responses.at(-1)?.writableLength).toBeGreaterThan(0))
  expect(camera.isOpen).toBe(true)
  await camera.close()
  expect(camera.isOpen).toBe(false)
  expect(camera.viewers).toBe(0)
  expect(await reader.ended).toBe('complete')
})

test('the number of viewers is limited', async () => {
  const { camera, openViewer } = await createFixture()
  const viewers = await Promise.all(Array.from({ length: MAX_VIEWERS }, openViewer))
  await waitFor(() => expect(camera.viewers).toBe(MAX_VIEWERS))
  expect(camera.isOpen).toBe(false)
  await viewers[0]?.leave()
  await waitFor(() => expect(camera.isOpen).toBe(true))
})
