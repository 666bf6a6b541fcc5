import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import sharp from 'sharp'
import type { ConsoleBrowser } from './console.ts'

/** Starts a server with its own origin, as cameras have. */
async function serve(answer: RequestListener) {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/**
 * Starts an MJPEG camera at its own origin, with or without CORS, and with or without the length of each part.
 * @param options.everyMs the time between two pictures
 */
export async function createTestCamera({ readable = true, hasLengths = true, everyMs = 50 } = {}) {
  const jpeg = await sharp({ create: { width: 64, height: 36, channels: 3, background: 'teal' } })
    .jpeg()
    .toBuffer()
  let viewers = 0
  let frozen = false
  const destinations = new Set<string>()
  const server = await serve((request, response) => {
    if (request.url !== '/camera') return void response.writeHead(404).end()
    viewers++
    destinations.add(String(request.headers['sec-fetch-dest']))
    response.writeHead(200, {
      'Content-Type': 'multipart/x-mixed-replace; boundary=frame',
      ...(readable && { 'Access-Control-Allow-Origin': '*' }),
    })
    const length = hasLengths ? `Content-Length: ${jpeg.length}\r\n` : ''
    const head = `\r\nContent-Type: image/jpeg\r\n${length}\r\n`
    response.write('--frame')
    const timer = setInterval(() => {
      if (!frozen) response.write(Buffer.concat([Buffer.from(head), jpeg, Buffer.from('\r\n--frame')]))
    }, everyMs)
    response.on('close', () => {
      viewers--
      clearInterval(timer)
    })
  })
  return {
    url: `${server.origin}/camera`,
    viewers: () => viewers,
    /** The kinds of requests for the video: `empty` from a script, `image` from an `<img>`. */
    destinations: destinations as ReadonlySet<string>,
    freeze: (now: boolean) => {
      frozen = now
    },
    [Symbol.asyncDispose]: server.close,
  }
}

/**
 * Starts a WHEP server whose camera is another page of the browser. It answers offers with an animated canvas and
 * counts the open sessions.
 */
export async function createWhepCamera(browser: ConsoleBrowser, { location = '/whep/1' } = {}) {
  const camera = await browser.browser.newPage()
  await camera.evaluate(ANSWERING)
  let open = 0
  const server = await serve(async (request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Access-Control-Allow-Methods', 'POST, DELETE')
    response.setHeader('Access-Control-Allow-Headers', 'Content-Type')
    response.setHeader('Access-Control-Expose-Headers', 'Location')
    if (request.method === 'POST') {
      const offer = (await request.toArray()).join('')
      const answer = await camera.evaluate((sdp) => Reflect.get(globalThis, 'answer')(sdp), offer)
      open++
      response.writeHead(201, { 'Content-Type': 'application/sdp', Location: location }).end(answer)
    } else if (request.method === 'DELETE') {
      open--
      response.writeHead(200).end()
    } else response.writeHead(request.method === 'OPTIONS' ? 204 : 405).end()
  })
  return {
    url: `${server.origin}/stream`,
    open: () => open,
    async [Symbol.asyncDispose]() {
      await camera.close()
      await server.close()
    },
  }
}

const DRAWING = `
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d')
  setInterval(() => {
    context.fillStyle = 'hsl(' + (performance.now() % 360) + ' 80% 50%)'
    context.fillRect(0, 0, canvas.width, canvas.height)
  }, 40)`

const ANSWERING = `
  ${DRAWING}
  globalThis.answer = async (sdp) => {
    const peer = new RTCPeerConnection()
    for (const track of canvas.captureStream(25).getTracks()) peer.addTrack(track)
    await peer.setRemoteDescription({ type: 'offer', sdp })
    await peer.setLocalDescription(await peer.createAnswer())
    while (peer.iceGatheringState !== 'complete') {
      await new Promise((changed) => peer.addEventListener('icegatheringstatechange', changed, { once: true }))
    }
    return peer.localDescription.sdp
  }`

/** The length of the recording. The result may be shorter on a busy machine. */
const RECORDED_MS = 1_000

/**
 * Starts a live HLS stream that repeats a recorded second of an animated canvas. `requests` counts requests by kind;
 * `newest` returns the number of the newest segment.
 */
export async function createHlsCamera(browser: ConsoleBrowser) {
  const { head, segment, seconds } = await record(browser)
  const startedMs = performance.now()
  const newest = () => 2 + Math.floor((performance.now() - startedMs) / 1_000 / seconds)
  const requests = { playlist: 0, head: 0, segment: 0 }
  const server = await serve((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*')
    const kind = /^\/(playlist|head|segment)\b/.exec(request.url ?? '')?.[1] as
      | keyof typeof requests
      | undefined
    if (!kind) return void response.writeHead(404).end()
    requests[kind]++
    const type = kind === 'playlist' ? 'application/vnd.apple.mpegurl' : 'video/mp4'
    response.writeHead(200, { 'Content-Type': type })
    response.end({ playlist: playlistAt(newest(), seconds), head, segment }[kind])
  })
  return { url: `${server.origin}/playlist`, requests, newest, [Symbol.asyncDispose]: server.close }
}

/** Returns a playlist of the three newest segments. Each is a discontinuity, because all have the same timestamps. */
function playlistAt(newest: number, seconds: number): string {
  const first = newest - 2
  const segments = [0, 1, 2].flatMap((index) => [
    '#EXT-X-DISCONTINUITY',
    `#EXTINF:${seconds.toFixed(3)},`,
    `/segment?${first + index}`,
  ])
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${Math.ceil(seconds)}`,
    `#EXT-X-MEDIA-SEQUENCE:${first}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${first}`,
    '#EXT-X-MAP:URI="/head"',
    ...segments,
  ].join('\n')
}

/** Records a fragmented MP4 file and splits it into init segment, media segment and duration. */
async function record({ browser }: ConsoleBrowser) {
  const page = await browser.newPage()
  const { base64, seconds } = (await page.evaluate(RECORDING)) as { base64: string; seconds: number }
  await page.close()
  const file = Buffer.from(base64, 'base64')
  const [head, segment]: [Buffer[], Buffer[]] = [[], []]
  for (let at = 0; at < file.length; at += file.readUInt32BE(at)) {
    const name = file.toString('latin1', at + 4, at + 8)
    const part = name === 'ftyp' || name === 'moov' ? head : segment
    if (name !== 'mfra') part.push(file.subarray(at, at + file.readUInt32BE(at)))
  }
  return { head: Buffer.concat(head), segment: Buffer.concat(segment), seconds }
}

const RECORDING = `(async () => {
  ${DRAWING}
  const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: 'video/mp4;codecs=avc1.42E01E' })
  const whole = new Promise((done) => recorder.addEventListener('dataavailable', ({ data }) => done(data)))
  recorder.start()
  setTimeout(() => recorder.stop(), ${RECORDED_MS})
  const file = await whole
  const video = document.createElement('video')
  video.src = URL.createObjectURL(file)
  await new Promise((known) => video.addEventListener('loadedmetadata', known))
  const bytes = new Uint8Array(await file.arrayBuffer())
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return { base64, seconds: video.duration }
})()`
