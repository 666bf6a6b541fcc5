import type { Context, Middleware } from 'koa'
import { AppError, notAllowed, notFound } from '../../../src/core/errors/errors.ts'
import { type Camera, STREAM_TYPE } from './camera.ts'

/** Returns the path of a robot's video; with `.jpg` appended, of a single picture. */
export const cameraPath = (hardwareId: string) => `/demo/robots/${encodeURIComponent(hardwareId)}/camera`

export interface CameraPages {
  readonly middleware: Middleware
  /** Publishes this robot's camera. */
  add(hardwareId: string, camera: Camera): void
  /** Disconnects all viewers. */
  close(): Promise<void>
}

/** Serves the pictures of the demo's robots to everyone: they show only a made-up warehouse. */
export function createCameraPages(): CameraPages {
  const cameras = new Map<string, Camera>()
  return {
    add: (hardwareId, camera) => cameras.set(hardwareId, camera),
    async close() {
      await Promise.all([...cameras.values()].map((camera) => camera.close()))
    },
    middleware: async (http, next) => {
      const [, encodedId, extension] = /^\/demo\/robots\/([^/]+)\/camera(\.jpg)?$/.exec(http.path) ?? []
      if (encodedId === undefined) return await next()
      if (http.method !== 'GET' && http.method !== 'HEAD') throw notAllowed(http.method, ['GET', 'HEAD'])
      const camera = cameras.get(decodeURIComponent(encodedId))
      if (!camera) throw notFound('Camera')
      http.set('Cross-Origin-Resource-Policy', 'cross-origin') // pages of other origins may show it
      if (extension) await sendSnapshot(http, camera)
      else sendStream(http, camera)
    },
  }
}

async function sendSnapshot(http: Context, camera: Camera): Promise<void> {
  http.status = 200
  http.type = 'image/jpeg'
  if (http.method !== 'HEAD') http.body = await camera.snapshot()
}

/** @throws 503 when the camera has too many viewers, or the platform is stopping */
function sendStream(http: Context, camera: Camera): void {
  if (http.method !== 'HEAD' && !camera.isOpen) {
    const options = { headers: { 'Retry-After': '1' }, byConfiguration: true }
    throw new AppError(503, 'overloaded', 'Too many viewers watch this camera. Try again later.', options)
  }
  http.status = 200
  http.set({
    'Content-Type': STREAM_TYPE,
    'X-Accel-Buffering': 'no', // some proxies buffer answers by default
    Connection: 'close', // the answer ends only with the connection
  })
  if (http.method === 'HEAD') return
  http.respond = false // the camera writes the body
  camera.streamTo(http.res)
}
