import { type Destination, type RobotIdentity, RobotSocket } from '../fleet/robot-socket.ts'

const quiet = { acked: () => {}, ponged: () => {} }

/** Connects several robots from this process, one after another. */
export async function connectRobots(
  identities: readonly RobotIdentity[],
  to: Destination,
): Promise<RobotSocket[]> {
  const robots: RobotSocket[] = []
  for (const identity of identities) robots.push(await RobotSocket.connect(identity, to, quiet))
  return robots
}
