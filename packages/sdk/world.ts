/** An axis-aligned rectangle, in metres; x and y are its lower left corner. */
export interface Rectangle {
  readonly xM: number
  readonly yM: number
  readonly widthM: number
  readonly heightM: number
}

/** An obstacle in a room. Only its rectangle is an obstacle; everything else affects drawings of the room. */
export interface Obstacle extends Rectangle {
  /** Default: a plain block. */
  readonly kind?: 'rack' | 'pallet' | 'person'
  /** Height above the floor, in metres. Default: to the ceiling. */
  readonly tallM?: number
  /** `#rrggbb`. Default: grey. */
  readonly colour?: string
}

/** A room from (0, 0) to (widthM, heightM) with obstacles. */
export interface World {
  readonly widthM: number
  readonly heightM: number
  readonly obstacles: readonly Obstacle[]
}

/** Distance and direction of a surface, seen from the robot. */
export interface Sighting {
  readonly distanceM: number
  /** Relative to the heading, counter-clockwise, in (-π, π]. */
  readonly bearingRad: number
}

/** A warehouse of 24 by 7.2 metres: two aisles along the x axis beside a rack, in the wide one pallets and a person. */
export const demoWorld: World = {
  widthM: 24,
  heightM: 7.2,
  obstacles: [
    { kind: 'rack', xM: 2.4, yM: 2, widthM: 19.2, heightM: 1, tallM: 4.8 },
    { kind: 'rack', xM: 2.4, yM: 6.2, widthM: 19.2, heightM: 1, tallM: 4.8 },
    { kind: 'pallet', xM: 8.6, yM: 3.2, widthM: 1.2, heightM: 0.8, tallM: 1.1 },
    { kind: 'person', xM: 11.2, yM: 5, widthM: 0.5, heightM: 0.5, tallM: 1.8 },
    { kind: 'pallet', xM: 15.2, yM: 5.2, widthM: 1.2, heightM: 0.8, tallM: 1.3 },
  ],
}

/** Returns the angle normalized to (-π, π]. */
export function normalAngle(angleRad: number): number {
  const turned = angleRad % (2 * Math.PI)
  if (turned > Math.PI) return turned - 2 * Math.PI
  return turned <= -Math.PI ? turned + 2 * Math.PI : turned
}

/** Returns the point of the rectangle that is nearest to (xM, yM). */
function nearestPoint(box: Rectangle, xM: number, yM: number): { xM: number; yM: number } {
  return {
    xM: Math.min(Math.max(xM, box.xM), box.xM + box.widthM),
    yM: Math.min(Math.max(yM, box.yM), box.yM + box.heightM),
  }
}

/** Returns whether a disc of `radiusM` around (xM, yM) is inside the room and touches no obstacle. */
export function isFree(world: World, xM: number, yM: number, radiusM: number): boolean {
  const inside =
    xM >= radiusM && yM >= radiusM && xM <= world.widthM - radiusM && yM <= world.heightM - radiusM
  return (
    inside &&
    world.obstacles.every((box) => {
      const point = nearestPoint(box, xM, yM)
      return Math.hypot(point.xM - xM, point.yM - yM) >= radiusM
    })
  )
}

/** Returns the wall or obstacle nearest to a robot of `radiusM`. The distance is from the rim of the robot. */
export function nearestSurface(
  world: World,
  pose: { readonly xM: number; readonly yM: number; readonly headingRad: number },
  radiusM: number,
): Sighting {
  const points = world.obstacles.map((box) => nearestPoint(box, pose.xM, pose.yM))
  points.push(
    { xM: 0, yM: pose.yM },
    { xM: world.widthM, yM: pose.yM },
    { xM: pose.xM, yM: 0 },
    { xM: pose.xM, yM: world.heightM },
  )
  let nearest: Sighting = { distanceM: Number.POSITIVE_INFINITY, bearingRad: 0 }
  for (const point of points) {
    const [dx, dy] = [point.xM - pose.xM, point.yM - pose.yM]
    const distanceM = Math.max(0, Math.hypot(dx, dy) - radiusM)
    if (distanceM >= nearest.distanceM) continue
    nearest = { distanceM, bearingRad: normalAngle(Math.atan2(dy, dx) - pose.headingRad) }
  }
  return nearest
}
