import type { SimulatedRobot } from '@wheelhouse/sdk'
import sharp from 'sharp'
import { Renderer } from './renderer.ts'

const QUALITY = 70

/** The view of a simulated robot, drawn on demand. */
export interface View {
  readonly width: number
  readonly height: number
  /** Draws the present view. The next call reuses the pixels: four bytes each, in the order red, green, blue, opaque. */
  draw(): Uint8Array<ArrayBuffer>
}

export interface ViewOptions {
  readonly robot: Pick<SimulatedRobot, 'state'>
  /** In pixels; the height follows, as 16 to 9. Default: 1280. */
  readonly width?: number
  /** Looks backwards. */
  readonly isRear?: boolean
}

/** Creates the view of a simulated robot in the demo's warehouse. */
export function createView({ robot, width = 1_280, isRear = false }: ViewOptions): View {
  const height = (width * 9) / 16
  let renderer: Renderer | undefined // many views are never watched
  let drawn: SimulatedRobot['state'] | undefined
  return {
    width,
    height,
    draw() {
      renderer ??= new Renderer(width, height)
      const { xM, yM, headingRad } = robot.state
      const isSame = drawn?.xM === xM && drawn.yM === yM && drawn.headingRad === headingRad
      if (!isSame) renderer.draw({ xM, yM, headingRad: isRear ? headingRad + Math.PI : headingRad })
      drawn = robot.state
      return new Uint8Array(renderer.pixels.buffer)
    },
  }
}

/** Returns a view as JPEG, compressed in another thread. Call it again only after it has settled, because it reuses the pixels. */
export async function jpegOf(view: View): Promise<Buffer> {
  const { width, height } = view
  return await sharp(view.draw(), { raw: { width, height, channels: 4 } })
    .jpeg({ quality: QUALITY })
    .toBuffer()
}
