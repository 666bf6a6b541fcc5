import type { Context, Middleware } from 'koa'
import { AppError, notAllowed, notFound } from '../../../src/core/errors/errors.ts'
import { type Camera, STREAM_TYPE } from './camera.ts'

/** The path of a robot's moving picture; with `.jpg` behind it, of a single one. */
export const cameraPath = (hardwareId: string) => `/demo/robots/${encodeURIComponent(hardwareId)}/camera`

export interface CameraPages {
  readonly middleware: Middleware
  /** From now on this robot's picture is there. */
  add(hardwareId: string, camera: Camera): void
  /** Sends all viewers away. */
  close(): Promise<void>
}

/** The pictures of the demo's robots, for everybody: there is nothing in them but a made-up room. */
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

/** @throws 503 when too many look on already, or the end is near */
function sendStream(http: Context, camera: Camera): void {
  if (http.method !== 'HEAD' && !camera.isOpen) {
    const options = { headers: { 'Retry-After': '1' }, bySetUp: true }
    throw new AppError(503, 'Too many people watch this camera. Try again later.', options)
  }
  http.status = 200
  http.set({
    'Content-Type': STREAM_TYPE,
    'X-Accel-Buffering': 'no', // some proxies gather answers unless told otherwise
    Connection: 'close', // nothing can follow on this connection
  })
  if (http.method === 'HEAD') return
  http.respond = false // the camera writes the body
  camera.streamTo(http.res)
}
