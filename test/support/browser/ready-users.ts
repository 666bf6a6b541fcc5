import type { World } from '../world/world.ts'

/** Creates an owner who has completed the onboarding, so that the console shows its pages at once. */
export async function readyOwner(world: World) {
  const owner = await world.client()
  await owner.patch('/api/client/profile', { contact_email: `${owner.name}@test.local` })
  return owner
}

/** Creates an operator who has completed the onboarding. */
export async function readyOperator(world: World) {
  const operator = await world.operator()
  await operator.post('/api/operator/profile', { headline: 'Steady hands', timezone: 'UTC' })
  return operator
}
