import { linkContract } from '../../contracts/link.ts';
import { AedesRig } from '../../rig/aedes.ts';

linkContract('link over the embedded broker', { broker: () => new AedesRig(), protocol: 'auto', spoken: 4 });
