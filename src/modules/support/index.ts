export { createSupport, supportEndpoints } from './facade.ts'
