import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import sharp from 'sharp'

/** Creates a camera that repeats the same picture, as MJPEG that every page may read. */
export async function startCamera(picture: { width: number; height: number; hz: number }) {
  const { width, height, hz } = picture
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const
  const image = sharp({ create: { width, height, channels: 3, background: 'teal', noise } })
  const jpeg = await image.jpeg({ quality: 60 }).toBuffer()
  const head = `\r\nContent-Type: image/jpeg\r\nContent-Length: ${jpeg.length}\r\n\r\n`
  const part = Buffer.concat([Buffer.from(head), jpeg, Buffer.from('\r\n--frame')])
  const server = createServer((_request, response) => {
    response.writeHead(200, {
      'Content-Type': 'multipart/x-mixed-replace; boundary=frame',
      'Access-Control-Allow-Origin': '*',
    })
    response.write('--frame')
    const timer = setInterval(() => {
      if (!response.writableNeedDrain) response.write(part)
    }, 1_000 / hz)
    response.on('close', () => clearInterval(timer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    frameBytes: jpeg.length,
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
