import { z } from 'zod'

export const RobotCategory = z.enum([
  'arm',
  'bimanual',
  'mobile_manipulator',
  'mobile_base',
  'quadruped',
  'humanoid',
])

/** What an operator's commands may mean to a robot. */
export const ControlMode = z.enum([
  'joint_position',
  'joint_velocity',
  'cartesian_pose',
  'cartesian_velocity',
  'base_velocity',
  'gripper',
])

/** A model's id is a slug, e.g. `so-101`. */
export const ModelParams = z.strictObject({
  id: z
    .string()
    .max(64)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be small letters, digits and single hyphens'),
})

export const RobotModelView = z.object({
  id: z.string(),
  name: z.string(),
  manufacturer: z.string(),
  /** What robots of this model are registered and operators certified as. */
  robot_type: z.string(),
  category: RobotCategory,
  /** Actuated axes without grippers; a base that drives counts the directions it can move in. */
  degrees_of_freedom: z.number().int(),
  control_modes: z.array(ControlMode),
  notes: z.string().nullable(),
})
