import { queryOptions } from '@tanstack/react-query'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'

export type CameraList = Schemas['CameraList']
export type Camera = CameraList['cameras'][number]

/** Cameras begin and end at the robot, without an event. */
const REFRESH_MS = 2_000

/** Queries the cameras of a session's robot. */
export const sessionCamerasQuery = (rest: RestClient, sessionId: string) =>
  queryOptions({
    // Not below the sessions: a log entry does not change cameras.
    queryKey: [...keys.cameras, 'session', sessionId],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/sessions/{id}/cameras', { params: { path: { id: sessionId } }, signal })),
    refetchInterval: REFRESH_MS,
  })

/** Queries the cameras of a robot for its owner. */
export const robotCamerasQuery = (rest: RestClient, robotId: string) =>
  queryOptions({
    queryKey: [...keys.cameras, 'robot', robotId],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/client/robots/{id}/cameras', { params: { path: { id: robotId } }, signal })),
    refetchInterval: REFRESH_MS,
  })
