import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { SettingsChange, SettingsView } from './settings.schema.ts'
import type { NotificationSettingsService } from './settings.service.ts'

/** Creates the endpoints of the notification settings. */
export function settingsEndpoints({ settings }: { settings: NotificationSettingsService }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/notifications/settings',
      summary: 'Returns your notification settings',
      access: {},
      response: [200, SettingsView],
      run: ({ caller }) => settings.read(caller.userId),
    }),
    endpoint({
      method: 'patch',
      path: '/api/notifications/settings',
      summary: 'Changes your notification settings',
      access: {},
      body: SettingsChange,
      response: [200, SettingsView],
      run: ({ caller, body }) => settings.change(caller.userId, body),
    }),
  ]
}
