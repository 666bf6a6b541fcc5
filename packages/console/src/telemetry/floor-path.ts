import type { CameraView } from '@wheelhouse/protocol'
import type { Pose, PosePrediction } from '@wheelhouse/sdk'
import type { Sightings } from './sample-reader.ts'
import { type Pixels, trace } from './trail-map.ts'

export interface PictureArea {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Nearer points are below the picture, or beside it. */
const NEAREST_M = 0.25
/** Obstacles beyond this distance are not marked. */
const MARKED_M = 3
/** A nearer one is drawn as a warning. */
const NEAR_M = 1
const ARC_RAD = 0.07

/**
 * Returns a function that projects a point of the floor into the picture of a camera; undefined for a point that it cannot see.
 * @param area where the picture is
 */
function createProjection(view: CameraView, area: PictureArea) {
  const focal = area.width / 2 / Math.tan(view.horizontal_fov_rad / 2)
  const [cos, sin] = [Math.cos(view.pitch_rad), Math.sin(view.pitch_rad)]
  /** @param forwardM from the camera along the heading. @param leftM from the middle of the robot */
  return (forwardM: number, leftM: number): Pixels | undefined => {
    // The optical axis points down by the pitch.
    const depthM = forwardM * cos + view.height_m * sin
    if (depthM < NEAREST_M) return undefined
    const downM = view.height_m * cos - forwardM * sin
    return [
      area.left + area.width / 2 - (leftM / depthM) * focal,
      area.top + area.height / 2 + (downM / depthM) * focal,
    ]
  }
}

type Project = ReturnType<typeof createProjection>

interface FloorPath {
  readonly view: CameraView
  /** As the robot sees it: from (0, 0) with heading 0. */
  readonly prediction: PosePrediction | null
  readonly around: Sightings
  /** Whether what the picture shows is late. */
  readonly isLate: boolean
}

const ACCENT = '134 193 255'
const WARNING = '255 184 64'

/**
 * Draws into the picture where the robot goes, as wide as it is: a thick line where it stands when a command that is sent now
 * arrives, a thin one where the present command leads; and arcs at the obstacles.
 */
export function drawFloorPath(
  context: CanvasRenderingContext2D,
  area: PictureArea,
  { view, prediction, around, isLate }: FloorPath,
): void {
  const project = createProjection(view, area)
  context.save()
  context.beginPath()
  context.rect(area.left, area.top, area.width, area.height)
  context.clip()
  context.lineWidth = Math.max(2, area.width / 640)
  if (prediction) drawPath(context, project, view.robot_width_m / 2, prediction, isLate)
  for (const { distanceM, bearingRad } of [...around.obstacles, ...around.scan]) {
    if (distanceM <= MARKED_M) drawArc(context, project, distanceM, bearingRad)
  }
  context.restore()
}

function drawPath(
  context: CanvasRenderingContext2D,
  project: Project,
  halfM: number,
  { inFlight, ghost, ahead }: PosePrediction,
  isLate: boolean,
): void {
  const colour = isLate ? WARNING : ACCENT
  const edge = (poses: readonly Pose[], side: 1 | -1) =>
    poses.flatMap(({ xM, yM, headingRad }) => {
      const leftM = side * halfM
      const point = project(xM - Math.sin(headingRad) * leftM, yM + Math.cos(headingRad) * leftM)
      return point ? [point] : []
    })
  const poses = [...inFlight, ghost, ...ahead]
  const [left, right] = [edge(poses, 1), edge(poses, -1)]
  if (left.length < 2 || right.length < 2) return
  context.fillStyle = `rgb(${colour} / 18%)`
  trace(context, [...left, ...right.toReversed()])
  context.fill()
  context.strokeStyle = `rgb(${colour} / 95%)`
  if (isLate) context.setLineDash([10, 7])
  for (const line of [left, right]) {
    trace(context, line)
    context.stroke()
  }
  context.setLineDash([])
  context.lineWidth *= 1.6
  trace(context, [...edge([ghost], 1), ...edge([ghost], -1)])
  context.stroke()
  context.lineWidth /= 1.6
  const last = ahead.at(-1)
  if (!last) return
  trace(context, [...edge([last], 1), ...edge([last], -1)])
  context.stroke()
}

function drawArc(
  context: CanvasRenderingContext2D,
  project: Project,
  distanceM: number,
  bearingRad: number,
): void {
  const points = [-1, -0.5, 0, 0.5, 1].flatMap((step) => {
    const rad = bearingRad + step * ARC_RAD
    const point = project(distanceM * Math.cos(rad), distanceM * Math.sin(rad))
    return point ? [point] : []
  })
  if (points.length < 2) return
  context.strokeStyle = `rgb(${distanceM < NEAR_M ? WARNING : ACCENT} / 80%)`
  trace(context, points)
  context.stroke()
}
