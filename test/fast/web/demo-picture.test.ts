import { expect, test } from 'vitest'
import { demoLimits, demoWorld, isFree } from '../../../packages/sdk/index.ts'
import { createView, type ViewOptions } from '../../../tools/demo/camera/picture.ts'
import { CAMERA_HEIGHT_M, FIELD_OF_VIEW_RAD, HORIZON_SHARE } from '../../../tools/demo/camera/renderer.ts'

const halted = { leftMps: 0, rightMps: 0, battery: 1, bumped: false }
const width = 640
const height = 360

/** Returns the pixels that a robot at this pose sees. */
function seen(xM: number, yM: number, headingRad: number, options: Partial<ViewOptions> = {}) {
  const robot = { state: { xM, yM, headingRad, ...halted } }
  const pixels = Buffer.from(createView({ robot, width, ...options }).draw())
  return { pixels, at: (x: number, y: number) => [...pixels.subarray((y * width + x) * 4).subarray(0, 3)] }
}

/** Returns where a point of the floor is in the picture. */
function onScreen(aheadM: number, rightM: number): readonly [x: number, y: number] {
  const focal = width / 2 / Math.tan(FIELD_OF_VIEW_RAD / 2)
  const y = height * HORIZON_SHARE + (CAMERA_HEIGHT_M * focal) / aheadM
  return [Math.round(width / 2 + (rightM * focal) / aheadM), Math.round(y)]
}

test('points of the floor are where height, field of view and horizon of the camera say', () => {
  // The yellow line at the right of the wide aisle, whose middle is at y = 3.22.
  const { at } = seen(4, 4.6, 0)
  for (const aheadM of [2, 3, 4]) {
    const [red = 0, , blue = 0] = at(...onScreen(aheadM, 4.6 - 3.22))
    expect(red - blue, `${aheadM} m ahead`).toBeGreaterThan(80)
    const [grey = 0, , other = 0] = at(...onScreen(aheadM, 0.8))
    expect(Math.abs(grey - other)).toBeLessThan(25)
  }
})

test('the rear camera sees what one in the opposite direction sees', () => {
  expect(seen(12, 4.4, 1, { isRear: true }).pixels).toEqual(seen(12, 4.4, 1 + Math.PI).pixels)
})

test('every place of the room can be drawn', () => {
  for (let xM = 0.3; xM < demoWorld.widthM; xM += 1.9) {
    for (let yM = 0.3; yM < demoWorld.heightM; yM += 0.7) {
      if (!isFree(demoWorld, xM, yM, demoLimits.radiusM)) continue
      const { pixels } = seen(xM, yM, xM * 7)
      let transparent = 0
      for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 255) transparent++
      expect(transparent, `${xM} ${yM}`).toBe(0)
    }
  }
})
