import { demoWorld, type SimulatedRobot } from '@wheelhouse/sdk'
import sharp from 'sharp'
import { Canvas } from './canvas.ts'
import { drawOverlay } from './overlay.ts'
import { drawRoom } from './room-renderer.ts'

const WIDTH = 640
const HEIGHT = 360
const QUALITY = 70

/**
 * Draws the view of a simulated robot in the demo's room, as a JPEG of 640 by 360. Drawing takes about a millisecond of
 * this thread; the compression runs in another. Call it again only after it has settled, because it reuses the pixels.
 */
export function createPicture(
  robot: Pick<SimulatedRobot, 'state' | 'link'>,
  name: string,
  now: () => Date,
): () => Promise<Buffer> {
  const canvas = new Canvas(WIDTH, HEIGHT)
  const raw = { width: WIDTH, height: HEIGHT, channels: 4 } as const
  return () => {
    const { state, link } = robot
    // The last stop of an idle robot does not concern viewers any more.
    const stopped = link.session && link.stop?.latched ? link.stop.reason : null
    drawRoom(canvas, demoWorld, state)
    drawOverlay(canvas, demoWorld, { name, at: now(), state, stopped })
    return sharp(Buffer.from(canvas.pixels.buffer), { raw }).jpeg({ quality: QUALITY }).toBuffer()
  }
}
