/** Accounts of the demo. The built-in identity provider signs each in with one click. */
export const demoAccounts = [
  {
    email: 'owner@demo.local',
    name: 'Olive Owner',
    role: 'owner',
    hint: 'watches and stops the two demo robots',
  },
  { email: 'operator@demo.local', name: 'Pat Pilot', role: 'operator', hint: 'drives the demo robots' },
  { email: 'admin@demo.local', name: 'Ada Admin', role: 'admin', hint: 'runs the platform' },
] as const
