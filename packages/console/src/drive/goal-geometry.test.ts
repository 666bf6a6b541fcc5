import { describe, expect, test } from 'vitest'
import { fromRobot, goalOf, type MapView, pixelsOf, placeAt } from './goal-geometry.ts'

const view: MapView = { middle: { xM: 10, yM: -4 }, pixelsPerM: 20, width: 400, height: 300 }

test('x is to the right and y up, around the middle of the map', () => {
  expect(pixelsOf(view, view.middle)).toEqual([200, 150])
  expect(pixelsOf(view, { xM: 11, yM: -4 })).toEqual([220, 150])
  expect(pixelsOf(view, { xM: 10, yM: -3 })).toEqual([200, 130])
  expect(placeAt(view, [0, 300])).toEqual({ xM: 0, yM: -11.5 })
})

test.each([
  [0, 0],
  [399.5, 12.25],
  [200, 150],
])('the place at %f, %f is shown there', (x, y) => {
  const [backX, backY] = pixelsOf(view, placeAt(view, [x, y]))
  expect(backX).toBeCloseTo(x)
  expect(backY).toBeCloseTo(y)
})

describe('a goal', () => {
  const robot = { xM: 10, yM: -4 }

  test('is where the pointer was pressed, whatever the drag', () => {
    expect(goalOf(view, robot, [240, 110], [0, 0])).toMatchObject({ xM: 12, yM: -2 })
  })

  test.each([
    ['right', [300, 110], 0],
    ['up', [240, 10], Math.PI / 2],
    ['down', [240, 210], -Math.PI / 2],
    ['up and left', [140, 10], (3 * Math.PI) / 4],
  ] as const)('heads where it is dragged: %s', (_name, release, headingRad) => {
    expect(goalOf(view, robot, [240, 110], release).headingRad).toBeCloseTo(headingRad)
  })

  test('without a drag heads away from the robot', () => {
    expect(goalOf(view, robot, [240, 110], [245, 105]).headingRad).toBeCloseTo(Math.PI / 4)
    expect(goalOf(view, robot, [200, 190], [200, 190]).headingRad).toBeCloseTo(-Math.PI / 2)
  })
})

test('what a robot sees ahead and to its left lies there in its coordinate frame', () => {
  const { xM, yM } = fromRobot({ xM: 1, yM: 2, headingRad: Math.PI / 2 }, { xM: 3, yM: 1 })
  expect(xM).toBeCloseTo(0)
  expect(yM).toBeCloseTo(5)
})
