/** The reasons of stops that the console requests. The platform stores them in English; `reasonText` translates them. */
export const stopReasons = {
  cockpit: 'from the cockpit',
  admin: 'Stopped by an administrator',
} as const
