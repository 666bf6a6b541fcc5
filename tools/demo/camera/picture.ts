import { demoWorld, type SimulatedRobot } from '@wheelhouse/sdk'
import sharp from 'sharp'
import { Canvas } from './canvas.ts'
import { drawOverlay } from './overlay.ts'
import { drawRoom } from './room-renderer.ts'

const WIDTH = 640
const HEIGHT = 360
const QUALITY = 70

/** The view of a simulated robot, drawn on demand. */
export interface View {
  readonly width: number
  readonly height: number
  /** Draws the present view. The next call reuses the pixels: four bytes each, in the order red, green, blue, opaque. */
  draw(): { readonly width: number; readonly height: number; readonly pixels: Uint8Array<ArrayBuffer> }
}

/** Creates the view of a simulated robot in the demo's room. Drawing takes about a millisecond. */
export function createView(
  robot: Pick<SimulatedRobot, 'state' | 'link'>,
  name: string,
  now: () => Date,
): View {
  const canvas = new Canvas(WIDTH, HEIGHT)
  const pixels = new Uint8Array(canvas.pixels.buffer)
  const size = { width: WIDTH, height: HEIGHT }
  return {
    ...size,
    draw() {
      const { state, link } = robot
      // The last stop of an idle robot does not concern viewers any more.
      const stopped = link.session && link.stop?.latched ? link.stop.reason : null
      drawRoom(canvas, demoWorld, state)
      drawOverlay(canvas, demoWorld, { name, at: now(), state, stopped })
      return { ...size, pixels }
    },
  }
}

/** Returns a view as JPEG, compressed in another thread. Call it again only after it has settled, because it reuses the pixels. */
export async function jpegOf(view: View): Promise<Buffer> {
  const { width, height, pixels } = view.draw()
  return await sharp(Buffer.from(pixels.buffer), { raw: { width, height, channels: 4 } })
    .jpeg({ quality: QUALITY })
    .toBuffer()
}
