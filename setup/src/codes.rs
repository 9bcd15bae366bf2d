//! Codes of errors outside the texts of methods and cases: commands and files, kernels, grids, devices, runs.
//!
//! The message of an error says what is wrong at hand, its help what to do; this table explains the codes. Families: `L01` commands, `L02`
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
        "A run writes all its files into one folder. The disk may be full, you may lack the permission to write there, or the folder has a file of that name that no run has written; such a file is never replaced. Choose another folder with `--out FOLDER`.";
    "C0602" "no restart file"
        "`--resume` continues from the file `restart.lbmc` in the folder of the results. A run writes it if the case has `output.restart`, and when it is interrupted. `--resume FILE` names another file; without `--resume` the run starts from the beginning.";
    "C0603" "a file that is not a restart file"
        "The file does not have the header of a restart file: another file was named, or it is damaged.";
    "C0604" "a restart file of another version"
        "The format of restart files changes between versions. Continue with the version of lbmc that wrote the file, or start from the beginning.";
    "C0605" "a broken restart file"
        "The length of the file differs from that in its header, or its contents are inconsistent. A run replaces the file only when the new one is complete, so it was truncated or changed later. Copy it again, or start from the beginning.";
    "C0606" "a restart file of another flow"
        "A run continues with the method, the grid, the parameters and the boundary conditions that it began with. `stop`, `devices` and the keys of output (`output`, `fields`, `probes`, `pictures`, `views`, `statistics`, `fluxes`, `report`) may change. All other keys, also those of `--set`, must be the same.";
    "C0607" "a restart file of other machine code"
        "The flow is the same, but the compiler, its options or the processor differ, so the results would differ from those of an uninterrupted run in the last bits. `--resume-anyway` continues nevertheless.";
    "C0701" "a flow that is not finite"
        "A value of the flow is infinite or not a number: the computation is unstable. Usual causes are a relaxation rate close to two on a grid \
         that does not resolve the gradients, a velocity near the speed of sound of the lattice, and a boundary condition that does not fit its surroundings. The message says where it began: lower the Reynolds number or the velocity, refine there, take a more stable collision or \
         another boundary condition. `lbmc check --stability` reports the limits of linear stability.";
    "C0702" "faces between which disturbances grow"
        "Each of the two boundary conditions is stable by itself, and so is the collision, but a small disturbance of a uniform stream between both faces \
         grows in every step, whatever the grid is. Take another boundary condition at one of the faces, or another method: the message names some, and \
         `lbmc check METHOD --faces all` lists all pairs. More viscosity helps, too. The growth is that of the linearised flow on the coarsest level.";
    "C0801" "processes without an MPI library"
        "mpirun has started several processes, but its MPI library cannot be loaded. Install it, or start one process.";
    "C0802" "processes of another MPI"
        "The library that was found belongs to another MPI than mpirun. Start the processes with the mpirun of that library, or add the folder of the other library to `LD_LIBRARY_PATH`.";
    "C0803" "processes that differ"
        "All processes of a run must read the same case and restart file, and run the same program on devices of one kind.";

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
        "The message has the error of the operating system: no such file, no permission, a full disk. Files of each kind also have a largest permitted size.";
    "L0107" "a parameter that does not exist, or a value that it cannot have"
        "`--set NAME=VALUE` sets a parameter of the method to a number in its range, or to a vector; a parameter is set only once: `gx=0.001`, `g=[0.001,0]`.";
    "L0108" "a method that cannot be compiled"
        "The method is valid, but there are no kernels for it with these options: the message names the part that has none, such as a population that streams further than one cell in a step, or the adjoint of a collision that reads neighbours. `lbmc check` still analyses the method.";
    "L0109" "an option that kernels on plain arrays do not have"
        "With `--layout soa` kernels collide and stream on arrays of your own program, which has to provide boundary conditions, solids and refinement. Leave the option out, or take `--layout blocks`.";
    "L0110" "a block of the wrong dimension"
        "A block has a side for each axis of the velocity set: `8x8` in two dimensions, `4x4x4` in three.";
    "L0111" "populations that cannot be read"
        "`lbmc eval` reads {\"directions\": [[cx,cy],...], \"states\": [[f,...],...]}: each velocity of the method once, and for each state a number for each velocity. Methods with states of cells, and collisions that read neighbours, cannot be evaluated.";
    "L0112" "a collision without a finite value"
        "The given populations are not a valid state of a fluid (for example their density is 0), or the numbers are too large for the floating-point type. Nothing is written.";
    "L0113" "a method that is not formatted" "`lbmc fmt FILE` rewrites it in the house style.";
    "L0114" "a name that a method cannot have" "Names consist of letters, digits and `_`, and do not begin with a digit.";
    "L0115" "a file that exists already" "`lbmc new` does not replace files. Choose another name, or move the file away.";
    "L0116" "an error of the language server"
        "An editor starts `lbmc lsp` and communicates with it by the Language Server Protocol. It has sent something that is not a message of the protocol, or analysing a text takes longer than the time limit of a response.";
    "L0117" "a measurement that is not possible"
        "`lbmc bench` has no row of that name, the file for the results was not written by `lbmc bench`, or the flow cannot be measured.";
    "L0118" "options that do not go together" "The message names them, and which one to leave out.";
    "L0119" "a CUDA compiler that fails"
        "nvcc, which counts registers for `--report`, cannot be run or refuses the kernels. `LBMC_CUDA` names the folder of the CUDA toolkit.";
    "L0120" "an internal error of lbmc" "This should not happen: please report it, with the command and its files.";
    "L0121" "a page that cannot be served"
        "`lbmc run --watch` and `lbmc watch` listen at a port of the loopback address, 127.0.0.1. Another program may listen at the port that was asked for, or this user may not take it (those below 1024). Without a number a free port is taken.";

    "L0201" "a method whose waves cannot be analysed"
        "The effect of refinement interfaces on sound and shear is computed from waves of the linearised collision. This method has none.";
    "L0202" "a collision whose stability is not known"
        "Linear stability follows from the derivative of the collision at a uniform flow. Entropic collisions have no derivative there.";
    "L0203" "a velocity of the wrong dimension" "`--velocity` has a component for each axis.";
    "L0204" "a picture that cannot be drawn" "There are too few rates to draw a line through.";
    "L0205" "faces that are no pair"
        "`--faces` takes two opposite faces with a boundary condition each, `left=moving_wall,right=anti_bounce_back`, those of two axes, or `all`.";
    "L0206" "formulas that lose digits"
        "In 32 bits, the formulas of the spec in the order in which they are written may have a far larger error than the kernel that is made of them: they \
         add what is small to what is large, and take the difference. Kernels have other formulas, in which the constants have cancelled.";

    "L0301" "kernels of another version"
        "A bundle of kernels and the program that runs it must have the same version of their interface. Generate the bundle again.";
    "L0302" "kernels of another target" "Kernels in CUDA run on a GPU, those in C on the host: generate them with the other `--target`.";
    "L0303" "kernels on plain arrays" "The solver runs kernels on blocks (`--layout blocks`); those on plain arrays are for your own program.";
    "L0304" "an incomplete bundle" "Its manifest is damaged, or a kernel that is needed is missing. Generate the bundle again.";
    "L0305" "arrays of another bundle" "A kernel was given arrays or parameters that were made for another one.";

    "L0401" "a size that is not a multiple of the block" "Cells are stored in whole blocks.";
    "L0402" "a periodic face whose opposite is not periodic" "What leaves through one periodic face enters through the opposite one.";
    "L0403" "a grid with too many blocks, or too few" "Blocks of all levels are numbered with 32 bits. Use larger blocks.";
    "L0404" "no room for refinement" "Allow more memory, or make the coarsest level coarser.";
    "L0405" "levels that do not exist" "Levels are counted from 0, the coarsest.";
    "L0406" "a grid that cannot change" "The grid was set up without room for changes.";
    "L0407" "a refinement interface that is too near"
        "Links that a solid cuts must be a block away from refinement interfaces. Give solids near each other the same `level`. A moving solid needs that level on its whole path. Faces along which values vary must be a block away from them with a coupling of ghosts, and beside a solid: begin refined boxes there, or take a volumetric coupling.";
    "L0408" "a moving solid that comes to walls with values that vary"
        "Links there would have the values of two walls. Leave a block between them, or take a value that is the same everywhere.";

    "L0501" "a boundary condition that the method does not have" "The message lists those that it has.";
    "L0502" "a parameter that a boundary condition or method does not have" "The message lists those that it has.";
    "L0503" "a parameter that is missing" "A method and a boundary condition need all their parameters that have no default.";
    "L0504" "a vector with the wrong number of components" "A vector has a component for each axis.";
    "L0505" "a value out of its range" "The method states the range of a parameter: `param omega in (0, 2)`.";
    "L0506" "a wet-node boundary condition with values that vary" "Only link-wise boundary conditions can have such values, for example `moving_wall`.";
    "L0507" "a boundary condition of a solid that does not move with it"
        "A solid that moves needs a boundary condition with a parameter `velocity`, such as `interpolated_moving_wall`. All other values must be constant over its surface.";
    "L0508" "formulas without kernels" "The grid was made without the kernels that compute formulas at walls.";
    "L0509" "a solid with too many blocks on its path through a refined grid" "Take a grid of one level, or a coarser level at the surface of the solid.";
    "L0510" "a solid on its way to blocks that cannot be refined"
        "Pinned blocks, and those at faces along which values vary, do not change: keep them away from the path of the solid. If there are none, there is no memory for more blocks: raise `refinement.memory`.";
    "L0511" "a flow with too few cells for its walls" "A wet-node boundary condition reads cells along the normal. Take more cells, or a link-wise one.";
    "L0512" "a boundary condition that works on one level alone" "Next to refinement interfaces it would read cells of another level.";
    "L0513" "kernels without solids" "Generate the bundle with `--solids`.";
    "L0514" "kernels without a coupling of levels" "Generate the bundle with one: `--coupling volumetric_shifted`.";
    "L0515" "fields of another size" "Fields from which a flow starts must have as many cells as its grid.";
    "L0516" "a field that the method does not start from" "The message lists those that it starts from.";
    "L0517" "a grid without room for other blocks" "The grid of the simulation was set up without room for changes.";
    "L0518" "a body that the fluid moves and that has left the domain"
        "Its centre has passed a face that is not periodic. Walls push back spheres and circles alone: end the run before, or hold an axis of other shapes.";
    "L0519" "a body that the fluid moves and that is as fast as sound"
        "Take shorter time steps, or more cells across a body that is much lighter than the fluid.";
    "L0520" "a solid that the fluid does not move, and that is to be changed" "Only solids with `free = true` in their `motion` can be set or pushed during a run.";
    "L0521" "a body that does not turn, and that is to be turned" "With `rotation` in its `hold` a body has no angular velocity, and torques have no effect on it.";
    "L0522" "a law of the wall where it has no effect, or none where one is needed"
        "Surfaces with the rule `sliding_wall` follow a law of the wall. No solid of the flow may move.";
    "L0523" "a flow that has no adjoint" "docs/adjoint.md lists what gradients go with.";
    "L0524" "a recording that cannot be read during a run"
        "The file is read as the flow goes on. It must stay as it was when the run began, and all its values must be finite.";
    "L0525" "one set of populations where two are needed"
        "With `buffers = 1` steps replace populations in place: boundary conditions may read what the cell has sent to the wall and what arrives in it. `buffers = 2` goes with all.";
    "L0526" "a disk without room for states of a flow"
        "With `gradient.disk` states of the flow that memory has no room for are in a file in the folder of results, as large as that. Free so much, or take less of the disk: more steps are then computed again.";
    "L0527" "a surface whose velocity leads through it"
        "`layer.velocity` is that of a surface along itself: a belt, or a wheel that turns in its place. At the ends of a belt what leads through does not count.";

    "L0601" "no C compiler" "Kernels for the host are compiled before a run. Install a compiler, or name it in the environment variable `CC`.";
    "L0602" "kernels that a compiler refuses"
        "The source is that of the bundle. If lbmc has written it and nobody has changed it, this is an internal error of lbmc, or the compiler is too old.";
    "L0603" "no GPU that can be used" "Install the NVIDIA driver and the NVRTC library of CUDA 13, or for GPUs of AMD the HIP runtime of ROCm with hiprtc; or run on the host: `--set target=cpu`.";
    "L0604" "not enough memory on a device" "Take fewer cells or `precision = \"f32\"`, or end other programs that use the memory.";
    "L0605" "a kernel that the source does not have" "The manifest and the source of the bundle do not belong together: generate it again.";
    "L0606" "too much shared memory for a block" "Take smaller blocks, fewer bits, or `storage = \"populations\"`.";
    "L0607" "a kernel that cannot be started" "The message has the error of the driver.";
    "L0608" "an error of the GPU" "The driver reports errors late: an earlier kernel may be the cause. `nvidia-smi` shows the state of the GPU.";
    "L0609" "a buffer that is used wrongly" "This is an error of the program that uses the solver, or an internal error of lbmc.";
    "L0610" "no place for compiled kernels" "Free space on the disk, or set the environment variable `LBMC_CACHE` to a writable folder.";
    "L0611" "a kernel that accesses memory outside its arrays" "With `target = \"checked\"` each access of a kernel is compared with the arrays it was given. If the method, its rules and its coupling are shipped ones, this is a bug of lbmc.";
    "L0612" "a compiler without checks for kernels" "`target = \"checked\"` needs GCC: name it in the environment variable `CC`.";
    "L0613" "a compiler that was ended" "Ctrl-C, or another signal, ended the C compiler while it compiled kernels; the command ends with the status 130 of one that was asked to. No kernel ran: start again.";

    "L0701" "a field that does not exist, or cannot be set" "The message lists those that there are.";
    "L0702" "a field on several levels" "An array has one size of cells: name the level.";
    "L0703" "an array of the wrong shape" "Arrays are [y][x], in three dimensions [z][y][x], vectors with the component last.";
    "L0704" "values that are not finite" "A flow cannot start from them.";
    "L0705" "too little memory for an array" "Take a coarser level of the field.";
    "L0706" "derivatives of nothing" "The case has no `[gradient]`, which says of what derivatives are wanted.";
    "L0707" "a dictionary that is not a case" "It must have the keys of a case file.";
    "L0708" "a word that is none of the choices" "The message lists them.";
    "L0709" "a flow that is in use" "An objective in Python is computed while its flow is derived, and is given the fields that it needs.";
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
