export { createSupport, type Support, supportEndpoints } from './facade.ts'
