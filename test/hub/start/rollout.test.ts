import { hubRolloutContract } from '../../contracts/hub-rollout.ts';

hubRolloutContract('SQLite', async () => ({}));
