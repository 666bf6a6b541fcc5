import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'

export type AvailableRobot = Schemas['AvailableRobot']
export type Availability = Schemas['Availability']
export type Certification = Schemas['Certification']

/** A schedule opens without a word. */
const AVAILABILITY_MS = 30_000
/** Robots that come and go are told; their heartbeats are not. */
const HEARTBEATS_MS = 10_000

/** Below the root of sessions, since a session that starts or ends changes it. */
export const availabilityKey = [...keys.sessions, 'availability'] as const

/** Whether this operator could take a robot now. */
export function useAvailability() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: availabilityKey,
    queryFn: () => answerOf(rest.GET('/api/operator/availability')),
    refetchInterval: AVAILABILITY_MS,
  })
}

/** Robots that can be taken now, of the types this operator is certified for. */
export function useAvailableRobots() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: [...keys.robots, 'available'],
    queryFn: () => answerOf(rest.GET('/api/operator/available-robots')),
    refetchInterval: HEARTBEATS_MS,
  })
}

/** This operator's requests, newest first. */
export function useCertifications() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: keys.certifications,
    queryFn: () => answerOf(rest.GET('/api/operator/certifications')),
  })
}

export const scheduleKey = ['schedule'] as const

/** Supported models hardly ever change while a page is open. */
const MODELS_MS = 3_600_000

/** The robots that the platform knows the make of. */
export function useModels() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: ['robot-models'],
    queryFn: () => answerOf(rest.GET('/api/robots')),
    staleTime: MODELS_MS,
  })
}

/** What a type is called by its maker; undefined for a type of somebody's own. */
export function useModelName(robotType: string): string | undefined {
  const model = useModels().data?.models.find((candidate) => candidate.robot_type === robotType)
  return model && `${model.name} by ${model.manufacturer}`
}
