//! Codes of what can go wrong beside the texts of methods and cases: commands and files, kernels, grids, devices, runs.
//!
//! The message of an error says what is wrong at hand, its help what to do; here stands what a code means. Families: `L01` commands, `L02`
//! findings about methods, `L03` kernels, `L04` grids, `L05` the setup of a flow, `L06` devices, `L07` the Python package; `C06` files of
//! results, `C07` runs, `C08` processes. A test of the program holds that every code of the sources is explained.

/// A code and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// `L0107`.
    pub id: &'static str,
    /// What it means, in a few words.
    pub title: &'static str,
    /// What it means and what to do.
    pub text: &'static str,
}

impl Code {
    /// The row with this code, in capitals or not.
    pub fn find(code: &str) -> Option<&'static Code> {
        CODES.iter().find(|row| row.id.eq_ignore_ascii_case(code))
    }
}

macro_rules! codes {
    ($($id:literal $title:literal $text:literal;)*) => {
        /// Every code, in order.
        pub const CODES: &[Code] = &[$(Code { id: $id, title: $title, text: $text }),*];
    };
}

codes! {
    "C0601" "a file or folder of results that cannot be written"
        "A run writes all its files into one folder, which it owns while it runs. The disk may be full, the folder may not be yours, or it may \
         have a file of that name that no run has written, which is never replaced. Choose another folder with `--out FOLDER`.";
    "C0602" "no restart file"
        "`--resume` goes on from the file `restart.lbmc` in the folder of the results. A run writes one where the case has `output.restart`, and \
         when it is interrupted. `--resume FILE` names another; without `--resume` the run starts anew.";
    "C0603" "a file that is no restart file"
        "The file does not begin as restart files do: another file was named, or it was damaged.";
    "C0604" "a restart file of another version"
        "The format of restart files changes with what a flow consists of. Go on with the lbmc that wrote the file, or start anew.";
    "C0605" "a broken restart file"
        "The file is shorter or longer than its head says, or what it has does not fit together. A run replaces it only when the new one is \
         complete, so it was cut off or changed later. Copy it again, or start anew.";
    "C0606" "a restart file of another flow"
        "A run goes on with the method, the grid, the parameters and the boundary conditions that it began with. `stop`, `devices` and \
         what is written and reported (`output`, `fields`, `probes`, `pictures`, `views`, `statistics`, `fluxes`, `report`) may change. \
         Give everything else as it was, `--set` included.";
    "C0607" "a restart file of other machine code"
        "The flow is the same, but the compiler, its options or the processor are others, so that the last bits would be others than those of a \
         run without a stop. `--resume-anyway` goes on all the same.";
    "C0701" "a flow that is not finite"
        "A number of the flow has grown beyond all bounds: the computation is unstable. Usual causes are a relaxation rate close to two on a grid \
         that does not resolve the gradients, a velocity near the speed of sound of the lattice, and a boundary condition that does not go with \
         what is beside it. Look at where it began: lower the Reynolds number or the velocity, refine there, take a more stable collision or \
         another boundary condition. `lbmc check --stability` says where linear stability ends.";
    "C0801" "processes without an MPI"
        "mpirun has started several processes, and the library of its MPI cannot be loaded. Install it, or start one process.";
    "C0802" "processes of another MPI"
        "The library that was found is not the one that mpirun belongs to. Start the processes with the mpirun of that library, or name the \
         folder of the other in `LD_LIBRARY_PATH`.";
    "C0803" "processes that do not do the same"
        "All processes of a run read the same case and restart file, and run the same program on devices of one kind.";

    "L0101" "a code that does not exist" "`lbmc explain` without a code lists all of them.";
    "L0102" "a case that cannot be found"
        "A case is a file (TOML), or the name of a shipped case, which `lbmc cases` lists.";
    "L0103" "a method that cannot be found"
        "A method is a file (.lbm), or the name of a shipped one, which `lbmc specs` lists.";
    "L0104" "a boundary condition that does not exist"
        "Neither the method nor the prelude has one of that name. `lbmc specs --boundaries` lists those of the prelude.";
    "L0105" "a coupling that does not exist"
        "Neither the method nor the prelude has a coupling of levels of that name.";
    "L0106" "a file that cannot be read or written"
        "The message has what the system says: no such file, no permission, a full disk. Files have limits of length besides, beyond which they \
         cannot be what was meant.";
    "L0107" "a parameter that does not exist, or a value that it cannot have"
        "`--set NAME=VALUE` sets a parameter of the method once, to a number in its range, or to a vector: `gx=0.001`, `g=[0.001,0]`.";
    "L0108" "a method that cannot be compiled"
        "The method is valid, but there are no kernels for it with these options: the message says which part, such as a population that streams \
         further than one cell in a step. `lbmc check` still says what is known of the method.";
    "L0109" "an option that kernels on plain arrays do not have"
        "With `--layout soa` kernels collide and stream on arrays of your own program: boundaries, solids and levels of refinement are its own, \
         too. Leave the option out, or take `--layout blocks`.";
    "L0110" "a block of the wrong dimension"
        "A block has a side for each axis of the velocity set: `8x8` in two dimensions, `4x4x4` in three.";
    "L0111" "populations that cannot be read"
        "`lbmc eval` reads {\"directions\": [[cx,cy],...], \"states\": [[f,...],...]}: each velocity of the method once, and for each state as \
         many numbers. Methods whose cells keep values of their own, and collisions that read other cells, cannot be evaluated.";
    "L0112" "a collision without a finite value"
        "What was given is no state of a fluid, such as one of density 0, or its numbers are too large for the floating-point type. Nothing is \
         written.";
    "L0113" "a method that is not formatted" "`lbmc fmt FILE` rewrites it in the house style.";
    "L0114" "a name that a method cannot have" "Names have letters, digits and `_`, and begin with no digit.";
    "L0115" "a file that exists already" "`lbmc new` replaces no file. Choose another name, or move the file away.";
    "L0116" "a fault of the language server"
        "An editor starts `lbmc lsp` and speaks to it by the Language Server Protocol. What it says is no message of the protocol, or a text takes \
         more time than an answer may.";
    "L0117" "a measurement that is not possible"
        "`lbmc bench` has no row of that name, no file of its own where rows are to be kept, or no flow that can be measured.";
    "L0118" "options that do not go together" "The message says which, and what to leave out.";
    "L0119" "a CUDA compiler that fails"
        "nvcc, which counts registers for `--report`, cannot be run or refuses the kernels. `LBMC_CUDA` names the folder of the CUDA toolkit.";
    "L0120" "a fault of lbmc" "This should not happen: please report it, with the command and its files.";

    "L0201" "a method without waves that can be followed"
        "What refinement interfaces do to sound and shear is found from waves of the linearised collision, which this one does not have.";
    "L0202" "a collision whose stability is not known"
        "Linear stability is that of the derivative of the collision about a uniform flow. Entropic collisions have none, and those that read other \
         cells are not followed.";
    "L0203" "a velocity of the wrong dimension" "`--velocity` has a component for each axis.";
    "L0204" "a picture that cannot be drawn" "There are too few rates to draw a line through.";

    "L0301" "kernels of another version"
        "Bundles of kernels and the program that runs them follow one version of their interface. Generate the bundle again.";
    "L0302" "kernels of another target" "Kernels in CUDA run on a GPU, those in C on the host: generate them with the other `--target`.";
    "L0303" "kernels on plain arrays" "The solver runs kernels on blocks (`--layout blocks`); those on plain arrays are for your own program.";
    "L0304" "a bundle that is not whole" "Its manifest is damaged, or a kernel that is needed is missing. Generate the bundle again.";
    "L0305" "arrays of another bundle" "A kernel was given arrays or parameters that were made for another one.";

    "L0401" "a size that is not a multiple of the block" "Cells are stored in blocks, and all of them are whole.";
    "L0402" "a periodic face whose opposite is not periodic" "What leaves through one face comes back through the other.";
    "L0403" "a grid with too many blocks, or too few" "Blocks have numbers of 32 bits, and those of all levels have to have one. Use larger blocks.";
    "L0404" "no room for refinement" "Allow more memory, or make the coarsest level coarser.";
    "L0405" "levels that do not exist" "Levels are counted from 0, the coarsest.";
    "L0406" "a grid that cannot change" "The forest of blocks was made to stay as it is.";
    "L0407" "a refinement interface that is too near"
        "Links that a solid cuts are a block away from refinement interfaces, and so are faces along which values vary, with a coupling of ghosts or \
         beside a solid. Give solids near each other the same `level`, and a moving one that level all along its way; begin refined boxes a block \
         away from such a face, or take a volumetric coupling.";
    "L0408" "a moving solid that comes to walls with values that vary"
        "Links there would have values of two walls. A block must lie between them, or the value be the same everywhere.";

    "L0501" "a boundary condition that the method does not have" "The message lists those that it has.";
    "L0502" "a parameter that a boundary condition or method does not have" "The message lists those that it has.";
    "L0503" "a parameter that is missing" "A method and a boundary condition need all their parameters.";
    "L0504" "a vector with the wrong number of components" "A vector has a component for each axis.";
    "L0505" "a value out of its range" "The method says in which range a parameter is: `param omega in (0, 2)`.";
    "L0506" "a wet-node boundary condition with values that vary" "Link-wise ones can have them, such as `moving_wall`.";
    "L0507" "a boundary condition of a solid that does not move with it"
        "A solid that moves needs one with a parameter `velocity`, such as `interpolated_moving_wall`, and other values that are the same all over it.";
    "L0508" "formulas without kernels" "The grid was made without the kernels that compute formulas at walls.";
    "L0509" "a solid that comes to too many places of a refined grid" "Take a grid of one level, or a coarser level at the surface of the solid.";
    "L0510" "a solid on its way to blocks that cannot be refined"
        "Pinned blocks, and those at faces along which values vary, stay as they are: keep them away from its way. Else there is no room for more \
         blocks: raise `refinement.memory`.";
    "L0511" "a flow with too few cells for its walls" "A wet-node boundary condition reads cells along the normal. Take more cells, or a link-wise one.";
    "L0512" "a boundary condition that works on one level alone" "Next to refinement interfaces it would read cells of another level.";
    "L0513" "kernels without solids" "Generate the bundle with `--solids`.";
    "L0514" "kernels without a coupling of levels" "Generate the bundle with one: `--coupling volumetric_shifted`.";
    "L0515" "fields of another size" "What a flow starts from has as many cells as its grid.";
    "L0516" "a field that the method does not start from" "The message lists those that it does.";
    "L0517" "a grid without room for other blocks" "The simulation was made with a grid that stays as it is.";

    "L0601" "no C compiler" "Kernels for the host are compiled before a run. Install a compiler, or name it in the environment variable `CC`.";
    "L0602" "kernels that a compiler refuses"
        "The source is that of the bundle: if lbmc wrote it unchanged, this is a fault of lbmc, or the compiler is too old.";
    "L0603" "no GPU that can be used" "Install the NVIDIA driver and the NVRTC library of CUDA 13, or for GPUs of AMD the HIP runtime of ROCm with hiprtc; or run on the host: `--set target=cpu`.";
    "L0604" "not enough memory on a device" "Take fewer cells, `precision = \"f32\"`, or end what else uses the memory.";
    "L0605" "a kernel that the source does not have" "The manifest and the source of the bundle do not belong together: generate it again.";
    "L0606" "too much shared memory for a block" "Take smaller blocks, fewer bits, or `storage = \"populations\"`.";
    "L0607" "a kernel that cannot be started" "The message has what the driver says.";
    "L0608" "an error of the GPU" "The driver reports errors late: an earlier kernel may be the cause. `nvidia-smi` says whether the GPU is well.";
    "L0609" "a buffer that is used wrongly" "This is a fault of the program that uses the solver, or of lbmc.";
    "L0610" "no place for compiled kernels" "Make room, or name a folder that can be written in the environment variable `LBMC_CACHE`.";
    "L0611" "a kernel that reaches beside its arrays" "With `target = \"checked\"` each access of a kernel is compared with the arrays it was given. Where the method, its rules and its coupling are those that are shipped, this is a bug of lbmc.";
    "L0612" "a compiler without checks for kernels" "`target = \"checked\"` needs GCC: name it in the environment variable `CC`.";

    "L0701" "a field that does not exist, or cannot be set" "The message lists those that there are.";
    "L0702" "a field on several levels" "An array has one size of cells: name the level that is wanted.";
    "L0703" "an array of the wrong shape" "Arrays are [y][x], in three dimensions [z][y][x], vectors with the component last.";
    "L0704" "values that are not finite" "A flow cannot start from them.";
    "L0705" "too little memory for an array" "Take a coarser level of the field.";
    "L0707" "a dictionary that is no case" "It has the keys of a case file.";
    "L0708" "a word that is none of the choices" "The message lists them.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_ascending() {
        let codes: Vec<&str> = CODES.iter().map(|code| code.id).collect();
        assert!(codes.windows(2).all(|pair| pair[0] < pair[1]), "{codes:?}");
    }
}
