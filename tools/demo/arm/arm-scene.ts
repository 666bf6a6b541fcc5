import { type ArmPose, add, length, scale, subtract, type Vector } from './kinematics.ts'

export type Rgb = readonly [red: number, green: number, blue: number]

/** Edge of a cube, in metres. */
export const CUBE_M = 0.05
/** The widest opening of the gripper. */
export const OPEN_M = 0.08
/** A cube at most this far from the point between the fingers is between them. */
const GRASP_M = 0.035
const FALL_MPS = 0.6

/** The bin at the right of the arm. */
export const BIN = { x: [0.24, 0.42], y: [-0.42, -0.24], heightM: 0.03 } as const

interface Cube {
  readonly colour: Rgb
  /** Its middle. */
  at: Vector
}

/** The cubes on the table, and the one that the gripper holds. */
export class ArmScene {
  readonly cubes: readonly Cube[] = [
    { colour: [58, 121, 214], at: [0.36, 0.02, CUBE_M / 2] },
    { colour: [226, 167, 40], at: [0.3, 0.22, CUBE_M / 2] },
    { colour: [52, 140, 84], at: [0.42, 0.16, CUBE_M / 2] },
  ]
  #held: Cube | null = null

  /** Whether the gripper holds a cube. */
  get isHolding(): boolean {
    return this.#held !== null
  }

  /**
   * Moves the cubes with the gripper, and those that it has let go down to the table.
   * @param openM how far the fingers are to be apart
   * @returns how far they are: a cube between them keeps them open
   */
  step({ tool }: Pick<ArmPose, 'tool'>, openM: number, seconds: number): number {
    if (openM > CUBE_M) this.#held = null
    else this.#held ??= this.cubes.find(({ at }) => length(subtract(at, tool)) < GRASP_M) ?? null
    for (const cube of this.cubes) {
      if (cube === this.#held) cube.at = tool
      else if (cube.at[2] > CUBE_M / 2) {
        const fallen = Math.max(CUBE_M / 2, cube.at[2] - FALL_MPS * seconds)
        cube.at = [cube.at[0], cube.at[1], fallen]
      }
    }
    return this.#held ? Math.max(openM, CUBE_M) : openM
  }
}

/** Returns the middle of the fingers' tips, and half of the way between them. */
export const fingerTips = ({ tool, fingerDirection }: ArmPose, openM: number): readonly [Vector, Vector] => [
  add(tool, scale(fingerDirection, openM / 2)),
  add(tool, scale(fingerDirection, -openM / 2)),
]
