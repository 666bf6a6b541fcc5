import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { loadPush, type PushDevice, removeDevice, turnOnPush } from './browser-push.ts'

/** Queries the devices that receive notifications, and turns this browser on or any device off. */
export function usePush() {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: keys.push })
  const query = useQuery({ queryKey: keys.push, queryFn: () => loadPush(rest) })
  const turnOn = useMutation({ mutationFn: () => turnOnPush(rest), onSettled: refresh })
  const remove = useMutation({
    mutationFn: (device: PushDevice) => removeDevice(rest, device),
    onSettled: refresh,
  })
  return { query, turnOn, remove }
}
